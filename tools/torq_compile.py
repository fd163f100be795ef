# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torq-compile: a quantized ONNX model to torq_hl, to a report, to results."""

import argparse
import os
import re
import shutil
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from torq_mlir.errors import CompileError, TorqError
from torq_mlir.files import write_atomically
from torq_mlir.tools import execution_options, explorer_files, iree_files, version_option

if TYPE_CHECKING:
    import numpy as np

    from torq_mlir.compiler import CompiledModel

_LEVELS = ("onnx", "fx", "torch", "linalg", "torq-hl")
_FLOATS = ("host", "bf16")
_APPROXIMATIONS = ("softmax", "normalization")

_EPILOG = """\
examples:
  torq-compile model.onnx                             print the model in torq_hl
  torq-compile model.onnx --elide                     the same without large constants, to read
  torq-compile model.onnx -o model.mlir               write it as MLIR text (as bytecode for model.mlirbc)
  torq-compile model.onnx --emit=linalg --elide       an earlier level of the IR
  torq-compile model.onnx --emit=explorer -o graph.json
                                                      a graph for each level, for Model Explorer
  torq-compile model.onnx --report                    which operator runs where, and why not on the NPU
  torq-compile model.onnx --run inputs.npz --output results.npz
                                                      run the model on the host; numpy.savez("inputs.npz", data=image)
  torq-compile model.onnx --run inputs.npz --profile --trace trace.json
                                                      how long each operation takes
  torq-compile model.onnx -o model.so                 a library for C, with model.h
  torq-compile model.onnx -o model.vmfb               a module for the runtime of IREE
  torq-compile model.onnx --emit=iree-input           what IREE compiles, for a plugin that takes the NPU's functions
  torq-compile model.onnx --batch 1                   a model whose batch size is open
  torq-compile model.onnx --input-shape data:1,3,224,224
                                                      a model whose shapes are open
  torq-compile model.onnx --report --approximate=softmax,normalization
                                                      softmax and LayerNorm in integers, and the error this makes
  torq-compile model.onnx --report --float=bf16       what is not quantized in bf16 on the NPU
  torq-compile model.mlir --run inputs.npz            what was written with -o is read again

levels of the IR:
  onnx     operators as an ONNX model has them, in torch.operator "onnx.*"
  fx       operators as a program of torch.export has them
  torch    the torch dialect, with quantization as quantized_decomposed operations
  linalg   linalg on tensors, with quantized_decomposed
  torq-hl  operations of the NPU, and linalg for what stays on the host

for IREE:
  iree-input           linalg, with a function for each part that one executor computes, and the attribute torq-executor

files for Model Explorer:
  explorer             a graph for each level
  explorer-executors   node data: who executes each operation
  explorer-errors      node data: how far each operation of the NPU is from the source model, on the inputs of --run or
                       on random ones

Exit status: 0 on success, 1 with one line on stderr when the model or an argument cannot be used, 2 for a wrong
command line.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    execution_options.check(parser, options)
    try:
        _compile(options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except TorqError as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    return 0


def _fail(message: str) -> int:
    print(f"torq-compile: error: {' '.join(message.split())}", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="torq-compile",
        description="Compiles a quantized ONNX model or exported PyTorch program to torq_hl, the dialect of the Torq "
        "NPU, and runs it on the host.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", help="an ONNX file, a program of torch.export (.pt2), or torq_hl (.mlir, .mlirbc)")
    parser.add_argument(
        "-o",
        dest="file",
        metavar="FILE",
        help="write the IR there, or machine code: with a C header for .so and .o, for IREE's runtime for .vmfb; "
        "nothing is written on an error",
    )
    parser.add_argument("--prefix", default="torq_model", help="of the C functions (default: torq_model)")
    parser.add_argument(
        "--emit",
        choices=(*_LEVELS, iree_files.INPUT, *explorer_files.KINDS),
        help="level of the IR, input of IREE, or JSON for Model Explorer (default: torq-hl)",
    )
    parser.add_argument("--elide", action="store_true", help="leave out constants of more than 16 elements")
    parser.add_argument("--debug-info", action="store_true", help="print locations, which name the nodes of the model")
    shapes = parser.add_argument_group("shapes that the model leaves open")
    shapes.add_argument("--batch", type=_size, metavar="N", help="first dimension of each input")
    shapes.add_argument(
        "--input-shape",
        type=_input_shape,
        action="append",
        default=[],
        metavar="NAME:D0,D1,...",
        help="shape of an input; once for each",
    )
    nearly = parser.add_argument_group("what the NPU computes other than the model does; the report has the error")
    nearly.add_argument(
        "--float",
        choices=_FLOATS,
        default="host",
        help="what is not quantized: on the host in f32, or on the NPU in bf16 (default: host)",
    )
    nearly.add_argument(
        "--approximate",
        type=_approximations,
        default=(),
        metavar="NAME[,NAME]",
        help=f"in integers instead of float on the host: {', '.join(_APPROXIMATIONS)}",
    )
    report = parser.add_argument_group("report")
    report.add_argument("--report", action="store_true", help="print what became of each operator")
    report.add_argument("--report-json", metavar="FILE", help="write the same as JSON; '-' is the standard output")
    execution_options.add_arguments(parser)
    version_option.add(parser)
    return parser


def _size(text: str) -> int:
    if not re.fullmatch(r"[0-9]+", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no positive number")
    return int(text)


def _approximations(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if not set(names) <= set(_APPROXIMATIONS):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of {', '.join(_APPROXIMATIONS)}")
    return names


def _input_shape(text: str) -> tuple[str, tuple[int, ...]]:
    name, colon, sizes = text.rpartition(":")
    if not colon or not name:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form NAME:D0,D1,...")
    return name, tuple(_size(size) for size in re.split("[,x]", sizes)) if sizes else ()


def _compile(options: argparse.Namespace) -> None:
    inputs = _read_arrays(options.run) if options.run else None
    compiled = _load(options)
    if options.file or options.emit or not (options.run or options.report or options.report_json):
        _emit(compiled, options, inputs)
    if options.report:
        print(compiled.report().text(_terminal_width()))
    if options.report_json == "-":
        print(compiled.report().to_json())
    elif options.report_json:
        text = f"{compiled.report().to_json()}\n"
        write_atomically(options.report_json, lambda file: file.write(text.encode()))
    if inputs is not None:
        _run(compiled, inputs, options)


def _terminal_width() -> int | None:
    """Columns of the terminal, or of `$COLUMNS`; None where the output goes to a file."""
    return shutil.get_terminal_size((0, 0)).columns or None if sys.stdout.isatty() or "COLUMNS" in os.environ else None


def _load(options: argparse.Namespace) -> "CompiledModel":
    from torq_mlir import compiler

    if Path(options.model).suffix in (".mlir", ".mlirbc"):
        return compiler.CompiledModel.load(options.model, backend=execution_options.execution(options))
    shapes = dict(options.input_shape)
    compiled = compiler.compile(
        options.model,
        backend=execution_options.execution(options),
        batch=options.batch,
        # Without any, a program of dynamic shapes is shown for those that it was exported with.
        input_shapes=shapes or None if options.emit in explorer_files.KINDS else shapes,
        float=options.float,
        approximate=options.approximate,
    )
    return getattr(compiled, "example", compiled)


def _emit(compiled: "CompiledModel", options: argparse.Namespace, inputs: "dict[str, np.ndarray] | None") -> None:
    level = options.emit or "torq-hl"
    if options.file and Path(options.file).suffix in (".so", ".o") and not options.emit:
        compiled.write_library(options.file, prefix=options.prefix)
        return
    if options.file and Path(options.file).suffix == ".mlirbc" and level == "torq-hl":
        compiled.save(options.file)
        return

    if iree_files.is_wanted(options.emit, options.file):
        how = {"opt_level": options.opt_level, "elide": options.elide, "debug_info": options.debug_info}
        _write(iree_files.writer(compiled, options.emit, options.file, **how), options.file)
        return
    if level in explorer_files.KINDS:
        write = explorer_files.writer(compiled, level, options.model, inputs)
        _write(write, options.file)
        return

    def write(file: IO[bytes]) -> None:
        try:
            compiled.write_mlir(file, level, elide=options.elide, debug_info=options.debug_info)
        except ValueError as error:  # a level of models of the other kind
            raise CompileError(str(error)) from None

    _write(write, options.file)


def _write(write: Callable[[IO[bytes]], object], path: str | None) -> None:
    if path:
        write_atomically(path, write)
    else:
        write(sys.stdout.buffer)


def _read_arrays(path: str) -> "dict[str, np.ndarray]":
    import numpy as np

    try:
        with np.load(path, allow_pickle=False) as arrays:
            return dict(arrays)
    except (ValueError, EOFError, zipfile.BadZipFile, TypeError, AttributeError) as error:
        raise TorqError(f"{path}: not a .npz file of arrays") from error


def _run(compiled: "CompiledModel", inputs: "dict[str, np.ndarray]", options: argparse.Namespace) -> None:
    import numpy as np

    unnamed = [f"arr_{index}" for index in range(len(inputs))]  # numpy.savez(path, a, b)
    known = {info.name for info in compiled.inputs}
    if inputs.keys() == set(unnamed) and not inputs.keys() & known and len(unnamed) <= len(compiled.inputs):
        inputs = {info.name: inputs[name] for info, name in zip(compiled.inputs, unnamed, strict=False)}
    results = compiled(**inputs)
    execution_options.profile(compiled, inputs, options)
    named = dict(zip((info.name for info in compiled.outputs), results, strict=True))
    if options.output:
        write_atomically(options.output, lambda file: np.savez(file, **named))
        return
    for name, result in named.items():
        print(_summary(name, result))


def _summary(name: str, result: "np.ndarray") -> str:
    shape = "x".join(map(str, result.shape)) or "scalar"
    line = f"{name}: {shape} {result.dtype.name}"
    if not result.size:
        return line
    first = " ".join(_number(value) for value in result.reshape(-1)[:8].tolist())
    more = " ..." if result.size > 8 else ""
    return f"{line}, min {_number(result.min().item())}, max {_number(result.max().item())}, [{first}{more}]"


def _number(value: float | int | bool) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main())

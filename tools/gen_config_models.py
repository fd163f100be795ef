# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands of torq-gen-config that work on a model: quantize, discover and run."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from torq_mlir.errors import TorqError
from torq_mlir.tools.gen_config_flags import (
    add_discovery_flags,
    add_model_flags,
    add_output_flags,
    add_tolerance_flags,
    discover_options,
    model_options,
    tolerance,
)
from torq_mlir.tools.gen_config_reports import NOT_GOOD_ENOUGH

if TYPE_CHECKING:
    from torq_mlir.gen_config.files import FullModelRun

_QUANTIZE_EPILOG = """\
examples:
  torq-gen-config quantize --model model.onnx --calibration-data images.npz
  torq-gen-config quantize --model model.onnx --calibration-data folder_of_images --image-mean 0.485,0.456,0.406 \\
      --image-std 0.229,0.224,0.225 --per-channel --full-integer -o model_int8.onnx
  torq-gen-config quantize --model model.onnx --exclude Conv_0,Softmax_3
                                          keeps some layers in float; discover --sensitivity says which cost most
"""

_DISCOVER_EPILOG = """\
examples:
  torq-gen-config discover --model model.onnx --quantize --skip-mode
  torq-gen-config discover --model model.onnx --quantize --full-integer --quant-format=hybrid \\
      --skip-executors=css --dedup-layers --output-dir results
  torq-gen-config discover --model model.onnx --quantize --sensitivity
                                          which layers cost most accuracy, and which to keep in float
  torq-gen-config discover --model quantized.onnx
                                          a model that is quantized already is taken as it is

A discovery that was interrupted or killed goes on where it stopped when the same command is given again. Executors and
tolerances that were set with `edit` are kept.
"""

_RUN_EPILOG = """\
examples:
  torq-gen-config run --model model.onnx --output-dir results --quantize --full-integer
                                          with the flags that discover was given
  torq-gen-config run --model model.onnx --output-dir results --quantize --full-integer --debug-ir=ir
                                          and the IR after each pass, in ir/001_<pass>.mlir, ir/002_...
  torq-gen-config run --model model.onnx --quantize --full-integer --compiler-file torq_gen_config_model_compiler.json
"""


class Stopped(Exception):
    """A command was interrupted; the text says what is kept."""


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands; each sets `function`, which takes the options and returns the exit code."""
    quantize = _add(commands, "quantize", "quantize a float model to int8", _QUANTIZE_EPILOG)
    add_model_flags(quantize, quantize_flag=False)
    quantize.add_argument("-o", dest="file", metavar="FILE", help="file to write; <model>_quantized.onnx by default")
    add_output_flags(quantize, "folder of the file, if it is not given with -o")
    quantize.set_defaults(function=_quantize)

    discover = _add(commands, "discover", "test each layer on each executor", _DISCOVER_EPILOG)
    add_model_flags(discover)
    add_output_flags(discover, "folder of the report and the compiler file")
    add_discovery_flags(discover)
    add_tolerance_flags(discover)
    discover.set_defaults(function=_discover)

    run = _add(commands, "run", "run the full model with the executors of its report", _RUN_EPILOG)
    add_model_flags(run)
    add_output_flags(run, "the folder that discover has written to")
    run.add_argument("--compiler-file", metavar="FILE", help="use this compiler file, and no report")
    run.add_argument("--debug-ir", metavar="DIR", help="write the IR after each pass, without large constants")
    add_tolerance_flags(run, "of the outputs; without, they are reported, and layers are judged by those of the report")
    run.set_defaults(function=_run)


def _add(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, text: str, epilog: str
) -> argparse.ArgumentParser:
    formatter = argparse.RawDescriptionHelpFormatter
    description = f"{text[0].upper()}{text[1:]}."
    return commands.add_parser(name, help=text, description=description, epilog=epilog, formatter_class=formatter)


def _quantize(options: argparse.Namespace) -> int:
    from torq_mlir import gen_config
    from torq_mlir.gen_config.telling import on_terminal

    path = gen_config.quantize(
        options.model,
        options.output_dir,
        model_options(options, quantize=True),
        output=options.file,
        show=on_terminal(options.log_file),
    )
    print(f"wrote {path}")
    return 0


def _discover(options: argparse.Namespace) -> int:
    from torq_mlir import gen_config
    from torq_mlir.gen_config import discovery, viewing
    from torq_mlir.gen_config.files import critical_failures
    from torq_mlir.gen_config.paths import Paths
    from torq_mlir.gen_config.telling import on_terminal

    try:
        report = gen_config.discover(
            options.model,
            options.output_dir,
            model_options(options),
            discover_options(options),
            show=on_terminal(options.log_file),
        )
    except discovery.Interrupted as interrupted:
        raise Stopped(str(interrupted)) from None
    paths = Paths(Path(options.output_dir), report.model.name)
    viewing.view(paths.report)
    print(f"report: {paths.report}\ncompiler file: {paths.compiler_file}")
    return NOT_GOOD_ENOUGH if critical_failures(report) else 0


def _run(options: argparse.Namespace) -> int:
    from torq_mlir import gen_config
    from torq_mlir.gen_config.files import Status
    from torq_mlir.gen_config.telling import on_terminal

    chosen = gen_config.RunOptions(options.compiler_file, tolerance(options), options.debug_ir)
    found = gen_config.run(
        options.model, options.output_dir, model_options(options), chosen, show=on_terminal(options.log_file)
    )
    if found.status is Status.ERROR and not found.outputs:
        raise TorqError(found.reason)
    text = _describe(found)
    print(text)
    if options.log_file is not None:
        with open(options.log_file, "a", encoding="utf-8") as file:
            print(text, file=file)
    return 0 if found.status is Status.SUCCESS else NOT_GOOD_ENOUGH


def _describe(found: "FullModelRun") -> str:
    from torq_mlir.gen_config.files import Status
    from torq_mlir.gen_config.wording import decibels, differences

    lines = [
        f"output {each.tensor}: {each.status}, {differences(each.metrics)}, SQNR {decibels(each.metrics.sqnr_db)} dB"
        for each in found.outputs
    ]
    differing = [each for each in found.tensors if each.status is not Status.SUCCESS]
    if found.tensors:
        lines.append(f"layers on the same inputs: {len(found.tensors)} compared, {len(differing)} outside of tolerance")
    lines += [f"  {each.layer or each.tensor}: {differences(each.metrics)}" for each in differing]
    lines.append(f"full model: {found.status}{': ' if found.reason else ''}{found.reason}")
    return "\n".join(lines)

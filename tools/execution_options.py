# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The options of torq-compile that say how a model is executed on the host."""

import argparse
import json
from typing import TYPE_CHECKING

from torq_mlir.files import write_atomically
from torq_mlir.tools import iree_files

if TYPE_CHECKING:
    import numpy as np

    from torq_mlir.compiler import CompiledModel
    from torq_mlir.executing import Execution

_BACKENDS = ("cpu", "jit", "interpreter", "iree")
_CPUS = ("avx512-vnni", "avx-vnni", "avx2", "generic")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    run = parser.add_argument_group("execution")
    run.add_argument("--run", metavar="FILE", help="run on arrays of a .npz file, named as the inputs of the model")
    run.add_argument("--output", metavar="FILE", help="write the outputs to a .npz file instead of printing a summary")
    run.add_argument(
        "--backend",
        choices=_BACKENDS,
        default="cpu",
        help="what executes the model, always to the same bits: kernels generated for this machine, MLIR's own "
        "lowering, numpy, or IREE, if it is installed (default: cpu)",
    )
    run.add_argument("--cpu", choices=_CPUS, help="instructions to use (default: $TORQ_CPU, or the best there are)")
    run.add_argument("--threads", type=_count, metavar="N", help="threads of a run (default: one for each core)")
    run.add_argument("--cache-dir", metavar="DIR", help="keep compiled code there, and take it from there")
    run.add_argument(
        "--opt-level", type=int, choices=range(4), metavar="0-3", help="of LLVM: compile fast or run fast (default: 3)"
    )
    run.add_argument("--profile", action="store_true", help="with --run, print how long each operation takes")
    run.add_argument("--trace", metavar="FILE", help="with --run, write the same as a trace for Perfetto or Chrome")


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Ends with a message where an option needs --run, or would do nothing."""
    for name, purpose in (("output", "the results"), ("profile", "times"), ("trace", "times")):
        if getattr(options, name) and not options.run:
            parser.error(f"--{name} is for {purpose} of --run")
    if options.cpu and (options.backend == "iree" or iree_files.is_wanted(options.emit, options.file)):
        parser.error("--cpu is for the backend cpu; what IREE compiles is for this machine")


def execution(options: argparse.Namespace) -> "Execution":
    from torq_mlir.executing import Execution

    return Execution(options.backend, options.cpu, options.threads, options.cache_dir, options.opt_level)


def profile(compiled: "CompiledModel", inputs: "dict[str, np.ndarray]", options: argparse.Namespace) -> None:
    """Prints times, or writes them as a trace, where that is wanted."""
    if not options.profile and not options.trace:
        return
    measured = compiled.profile(**inputs)
    if options.profile:
        print(measured)
    if options.trace:
        text = json.dumps(measured.to_trace())
        write_atomically(options.trace, lambda file: file.write(text.encode()))


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no positive number")
    return int(text)

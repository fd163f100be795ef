# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torq-gen-config: which executor takes each layer of a model, and how well it matches ONNX Runtime."""

import argparse
import os
import sys
from collections.abc import Sequence

from torq_mlir.errors import TorqError
from torq_mlir.tools import gen_config_models, gen_config_reports, version_option

_EPILOG = """\
A float model, from the first command to the last:

  torq-gen-config quantize --model model.onnx --calibration-data images.npz --per-channel
                                          an int8 model of its own, if that is all you need
  torq-gen-config discover --model model.onnx --output-dir results --quantize --full-integer \\
      --calibration-data images.npz --dedup-layers
                                          tests each layer on nss (the NPU), css (integers on the CPU next to it) and
                                          host (float), and recommends one
  torq-gen-config view results/torq_gen_config_model.json --html report.html
  torq-gen-config edit results/torq_gen_config_model.json Softmax_3 --executor host
  torq-gen-config run --model model.onnx --output-dir results --quantize --full-integer \\
      --calibration-data images.npz       the whole model with these executors; give the flags of discover

`torq-gen-config COMMAND --help` has all options of a command, and examples.

Exit status: 0 on success; 1 with one line on stderr when something cannot be used or written; 2 for a wrong command
line; 3 when the command worked and found that a layer or the model is not as it should be; 130 when it was interrupted.
"""
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        code = options.function(options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return _fail("interrupted", _INTERRUPTED)
    except gen_config_models.Stopped as stopped:
        return _fail(str(stopped), _INTERRUPTED)
    except (TorqError, ValueError) as error:
        return _fail(str(error))
    except MemoryError:
        return _fail("out of memory")
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error))
    else:
        return code
    return 0


def _fail(message: str, code: int = 1) -> int:
    print(f"torq-gen-config: error: {' '.join(message.split())}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="torq-gen-config",
        description="Finds out which executor takes each layer of a model, and how well it matches ONNX Runtime.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    version_option.add(parser)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    gen_config_models.add_commands(commands)
    gen_config_reports.add_commands(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())

# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m torq_mlir.explorer: a model or module in Model Explorer, with executors and errors as node data."""

import argparse
import json
import sys
from collections.abc import Sequence

from torq_mlir import explorer
from torq_mlir.compiler import CompiledModel
from torq_mlir.errors import TorqError
from torq_mlir.explorer import collection
from torq_mlir.extras import require

_PORT = 8080


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        (model_explorer,) = require(("model_explorer",), "explorer")
        config = model_explorer.config().add_model_from_path(options.file, "torq_mlir")
        read = collection.read(options.file)
        if isinstance(read, CompiledModel):
            config.add_node_data("executor", json.dumps(explorer.executor_data(read)))
            if options.errors:
                config.add_node_data("error", json.dumps(explorer.node_data.measured_error_data(read)))
    except (TorqError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    model_explorer.visualize_from_config(
        config, port=options.port, extensions=["torq_mlir.explorer"], no_open_in_browser=options.no_browser
    )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m torq_mlir.explorer", description="Shows each level of the IR of a model in Model Explorer."
    )
    parser.add_argument("file", help="an ONNX file, a program of torch.export (.pt2), or MLIR (.mlir, .mlirbc)")
    parser.add_argument("--errors", action="store_true", help="run it on random inputs for the error of each layer")
    parser.add_argument("--port", type=int, default=_PORT, help=f"of the server (default: {_PORT})")
    parser.add_argument("--no-browser", action="store_true", help="print the address, open no browser")
    return parser


if __name__ == "__main__":
    sys.exit(main())

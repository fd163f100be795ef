# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torq-compile emits for Model Explorer."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from torq_mlir.compiler import CompiledModel

GRAPHS, EXECUTORS, ERRORS = KINDS = ("explorer", "explorer-executors", "explorer-errors")


def writer(
    compiled: "CompiledModel", kind: str, model: str, inputs: "Mapping[str, np.ndarray] | None"
) -> Callable[[IO[bytes]], object]:
    """What writes the JSON of a kind to a binary file.

    Args:
      model: path of the model, whose name the collection of graphs has.
      inputs: what errors are measured on; random arrays for None.
    """
    from torq_mlir import explorer

    if kind == GRAPHS:
        contents = explorer.from_compiled(compiled, Path(model).name)
    elif kind == EXECUTORS:
        contents = explorer.executor_data(compiled)
    else:
        contents = explorer.node_data.measured_error_data(compiled, inputs)
    return lambda file: file.write(f"{json.dumps(contents)}\n".encode())

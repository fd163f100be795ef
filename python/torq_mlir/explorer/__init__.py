# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models and modules at each level of the IR as graphs for Model Explorer.

    from torq_mlir import explorer

    compiled = torq_mlir.compile("model.onnx")
    json.dump(explorer.from_compiled(compiled, "model"), file)                # a graph for each level
    json.dump(explorer.error_data(compiled, compiled.deviations()), file)     # node data

Such files can be read by Model Explorer everywhere. Where it runs with this package as an extension
(`model-explorer --extensions=torq_mlir.explorer model.onnx`), it takes models and MLIR as they are.
"""

from torq_mlir.explorer.collection import from_compiled, from_file, from_module
from torq_mlir.explorer.node_data import error_data, executor_data

__all__ = ["error_data", "executor_data", "from_compiled", "from_file", "from_module"]

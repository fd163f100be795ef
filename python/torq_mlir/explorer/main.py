# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The extension of Model Explorer, which looks for adapters in the module `main` of a package."""

from pathlib import Path
from typing import TYPE_CHECKING

from torq_mlir import explorer
from torq_mlir.extras import require

if TYPE_CHECKING:
    from model_explorer import ModelExplorerGraphs

_model_explorer, _graph_builder = require(("model_explorer", "model_explorer.graph_builder"), "explorer")


class TorqAdapter(_model_explorer.Adapter):
    """Reads quantized models, which are compiled and shown at each level of the IR, and MLIR."""

    metadata = _model_explorer.AdapterMetadata(
        id="torq_mlir",
        name="torq-mlir",
        description="Quantized models and MLIR, with executors and quantization parameters",
        fileExts=["mlir", "mlirbc", "onnx", "pt2"],
    )

    def convert(self, model_path: str, settings: dict) -> "ModelExplorerGraphs":
        """The graphs of a file. Model Explorer shows the text of what is raised."""
        collection = explorer.from_file(model_path, Path(model_path).name)
        return {"graphCollections": [_graph_builder.GraphCollection(**collection | {"label": ""})]}

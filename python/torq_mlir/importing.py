# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of every kind as IR at level 0, with what the compiler has to know of them besides."""

import os
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
from torch_mlir import ir

from torq_mlir.errors import ModelError
from torq_mlir.extras import require, warn_untested
from torq_mlir.frontends import onnx as onnx_frontend
from torq_mlir.frontends.tensor_info import TensorInfo
from torq_mlir.source_nodes import SourceNode, exported_nodes, source_nodes

if TYPE_CHECKING:
    import torch

# What an exported program is written to a file as.
_EXPORTED_SUFFIX = ".pt2"


@dataclass(frozen=True)
class ImportedModel:
    """A model at level 0.

    Attributes:
      module: one function, `main`.
      level: name of the level, by the front end.
      pipeline: what leads from there to the torch dialect with quantized_decomposed.
      inputs, outputs: arguments and results of the function.
      nodes: operators of the model, in order.
      state: values, by name, of the inputs that are not given by the caller but kept from call to call.
      updates: for each output the name of the input that it is the new value of, None for what the caller gets; empty
        when the caller gets all of them.
      structure: how a call of an exported program is made of tensors, see `fx.call_structure`.
    """

    module: ir.Module
    level: str
    pipeline: str
    inputs: Sequence[TensorInfo]
    outputs: Sequence[TensorInfo]
    nodes: Sequence[SourceNode]
    state: Mapping[str, np.ndarray] = field(default_factory=dict)
    updates: Sequence[str | None] = ()
    structure: str | None = None


def import_model(
    model: "str | os.PathLike | bytes | onnx.ModelProto | torch.export.ExportedProgram",
    *,
    batch: int | None = None,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    context: ir.Context | None = None,
) -> ImportedModel:
    """Import an ONNX model or an exported program, which a path that ends in ".pt2" is the file of.

    Args:
      batch: size of the first dimension of each input, where the model leaves it open.
      input_shapes: shapes of inputs that have open dimensions, by name.
      context: of the module; a new one by default.

    Raises:
      ModelError: the model is malformed or uses something that is not supported.
    """
    model = read_exported(model)
    if _is_exported_program(model):
        warn_untested("torch")
        return _import_exported(model, batch, input_shapes, context or ir.Context())
    warn_untested("onnx")
    proto = onnx_frontend.load(model, input_shapes=input_shapes, batch=batch)
    return ImportedModel(
        module=onnx_frontend.import_model(proto, context or ir.Context()),
        level="onnx",
        pipeline="torq-onnx-to-torch",
        inputs=onnx_frontend.model_inputs(proto),
        outputs=onnx_frontend.model_outputs(proto),
        nodes=source_nodes(proto.graph),
    )


def read_exported(model: object) -> object:
    """The exported program of a path that ends in ".pt2"; what is no such path, as it is.

    Raises:
      ModelError: the file is not one.
      MissingPackageError: PyTorch is not installed.
    """
    if not isinstance(model, str | os.PathLike) or Path(model).suffix != _EXPORTED_SUFFIX:
        return model
    # The second one registers the operators that the program calls.
    export, _ = require(("torch.export", "torch.ao.quantization.fx._decomposed"), "torch")
    try:
        return export.load(model)
    except (OSError, RuntimeError, zipfile.BadZipFile) as error:
        raise ModelError(f"{model}: not a program of torch.export: {' '.join(str(error).split())}") from error


def dynamic_inputs(model: object) -> tuple[tuple[TensorInfo, ...], dict[str, tuple[int, ...]]] | None:
    """The inputs of an exported program, with -1 for dynamic dimensions, and the shapes that it was exported with.

    None of a program without dynamic dimensions, and of what is no exported program.
    """
    if not _is_exported_program(model):
        return None
    from torq_mlir.frontends import fx

    return fx.dynamic_inputs(model)


def _is_exported_program(model: object) -> bool:
    """Whether the model is one of torch.export, which need not be imported to know that it is not."""
    export = sys.modules.get("torch.export")
    return export is not None and isinstance(model, export.ExportedProgram)


def _import_exported(
    program: "torch.export.ExportedProgram",
    batch: int | None,
    input_shapes: Mapping[str, Sequence[int]] | None,
    context: ir.Context,
) -> ImportedModel:
    from torq_mlir.frontends import fx

    loaded = fx.load(program, input_shapes=input_shapes, batch=batch)
    return ImportedModel(
        module=fx.import_program(loaded, context),
        level="fx",
        pipeline="torq-fx-to-torch",
        inputs=loaded.inputs,
        outputs=loaded.outputs,
        nodes=exported_nodes(loaded.source, fx.operator_name),
        state=loaded.state,
        updates=loaded.updates,
        structure=fx.call_structure(loaded.source),
    )

# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a file to a model that is ready to import: checked, of static input shapes, and with a type for every value."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError

from torq_mlir.errors import ModelError

from . import checks, naming, narrow_types, pooling_windows, shapes, skeleton, static_values, torch_mlir_gaps, upgrade


def load(
    model: str | os.PathLike | bytes | onnx.ModelProto,
    *,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    batch: int | None = None,
) -> onnx.ModelProto:
    """Read an ONNX model and prepare it for `import_model`.

    Every node of the result has a unique name, every value a type, every input a static shape; model-local functions
    are inlined, constants are initializers, and the opset is one the compiler knows.

    Args:
      model: a path (external data is read from the folder of the file), a serialized model, or a ModelProto, which is
        not modified.
      input_shapes: shapes of inputs that have dynamic dimensions, by name.
      batch: size of the first dimension of each input, where that is dynamic.

    Raises:
      ModelError: the model is not ONNX, is truncated or inconsistent, has a dynamic input shape that neither argument
        fixes, an opset that cannot be upgraded, or an operator or a type that is not supported. The message is one line
        and names the node, if it is about one.
    """
    model = _read(model)
    naming.name_nodes(model.graph)
    checks.check_structure(model)
    model = checks.inline_functions(model)
    naming.name_nodes(model.graph)  # that of a function adds nodes
    shapes.fix_input_shapes(model.graph, dict(input_shapes or {}), batch)
    constants = skeleton.take_constants(model.graph)
    model = upgrade.upgrade_opset(model)
    naming.name_nodes(model.graph)  # an upgrade adds nodes
    static_values.simplify(model)
    naming.name_nodes(model.graph)
    checks.check_operators(model)
    checks.check_validity(model)
    shapes.infer_types(model)
    while pooling_windows.rewrite(model.graph):
        shapes.infer_types(model)
    skeleton.put_back(model.graph, constants)
    narrow_types.widen(model)
    torch_mlir_gaps.avoid(model)
    return model


def _read(model: str | os.PathLike | bytes | onnx.ModelProto) -> onnx.ModelProto:
    if isinstance(model, onnx.ModelProto):
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        return copy
    if isinstance(model, bytes):
        return parse(model, "the model")
    path = Path(model)
    try:
        proto = parse(path.read_bytes(), str(path))
        onnx.load_external_data_for_model(proto, str(path.parent))
    except (OSError, onnx.checker.ValidationError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else checks.one_line(error)
        raise ModelError(f"{path}: {reason}") from error
    return proto


def parse(data: bytes, source: str) -> onnx.ModelProto:
    """The model that `data` is, without a check of its contents.

    Args:
      source: what errors call it.

    Raises:
      ModelError: it is not a serialized model.
    """
    try:
        model = onnx.ModelProto.FromString(data)
    except DecodeError:
        raise ModelError(f"{source}: not an ONNX model, or a truncated one") from None
    if not model.HasField("graph"):
        raise ModelError(f"{source}: not an ONNX model: it has no graph")
    return model

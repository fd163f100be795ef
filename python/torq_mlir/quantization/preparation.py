# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a model as an exporter leaves it to one that can be quantized."""

import io
import logging
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

import onnx
from onnxruntime.quantization.shape_inference import quant_pre_process

from torq_mlir.errors import ModelError
from torq_mlir.frontends import onnx as onnx_frontend
from torq_mlir.frontends.onnx import naming

from . import sessions

QUANTIZING = ("QuantizeLinear", "DequantizeLinear")


@dataclass(frozen=True)
class SourceNode:
    """Where a node comes from: its index and name in the model as it was given; the name is empty if it has none."""

    index: int
    name: str


@dataclass(frozen=True)
class Prepared:
    """A model whose nodes all have names, whose values all have types, and whose inputs have static shapes.

    Attributes:
      model: the model, optimized as ONNX Runtime does before quantization.
      sources: by name of a node. Nodes that the optimizer has made have none.
      notes: what was decided on behalf of the user, one line each.
    """

    model: onnx.ModelProto
    sources: Mapping[str, SourceNode] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def prepare(
    model: str | os.PathLike | bytes | onnx.ModelProto,
    *,
    batch: int | None = None,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    optimize: bool = True,
) -> Prepared:
    """Read a model and prepare it for quantization.

    Functions are inlined, constants become initializers, initializers that are inputs as well become constants, nodes
    get names, old opsets are upgraded, types are inferred. Models with external data of any size are read from a path.

    Args:
      batch: size of the first dimension of each input, where the model leaves it open; 1 if it is not given.
      input_shapes: shapes of inputs that have open dimensions, by name.
      optimize: let ONNX Runtime fold constants and normalization first, as it recommends.

    Raises:
      ModelError: the model is malformed or uses something that is not supported.
    """
    sources, open_inputs = _survey(model)
    notes = []
    missing = [name for name in open_inputs if name not in (input_shapes or {})]
    if missing:
        notes.append(f"the batch size is open; fixed to {batch or 1} for {', '.join(missing)}")
    loaded = onnx_frontend.load(model, batch=batch or 1, input_shapes=input_shapes)
    constants = {tensor.name for tensor in loaded.graph.initializer}
    for value in [value for value in loaded.graph.input if value.name in constants]:
        loaded.graph.input.remove(value)
    if optimize:
        loaded = _optimized(loaded)
        naming.name_nodes(loaded.graph)
    return Prepared(loaded, sources, tuple(notes))


def is_quantized(model: onnx.ModelProto) -> bool:
    """Whether the model has been quantized before."""
    return any(node.op_type in QUANTIZING or node.op_type.startswith("QLinear") for node in model.graph.node)


def _survey(model: str | os.PathLike | bytes | onnx.ModelProto) -> tuple[dict[str, SourceNode], list[str]]:
    """Where the nodes are, by the name that they will have, and the inputs whose batch size is open."""
    if isinstance(model, onnx.ModelProto):
        graph = onnx.GraphProto()
        graph.node.extend(model.graph.node)
        inputs, constants = model.graph.input, model.graph.initializer
    else:
        proto = _parse(model)
        graph, inputs, constants = proto.graph, proto.graph.input, proto.graph.initializer
    given = [SourceNode(index, node.name) for index, node in enumerate(graph.node)]
    naming.name_nodes(graph)
    sources = {node.name: source for node, source in zip(graph.node, given, strict=True)}
    names = {tensor.name for tensor in constants}
    return sources, [value.name for value in inputs if value.name not in names and _is_open(value)]


def _parse(model: str | os.PathLike | bytes) -> onnx.ModelProto:
    if isinstance(model, bytes):
        return onnx_frontend.parse(model, "the model")
    try:
        return onnx_frontend.parse(Path(model).read_bytes(), str(model))
    except OSError as error:
        raise ModelError(f"{model}: {error.strerror}") from error


def _is_open(value: onnx.ValueInfoProto) -> bool:
    dims = value.type.tensor_type.shape.dim
    return bool(dims) and dims[0].dim_value <= 0


def _optimized(model: onnx.ModelProto) -> onnx.ModelProto:
    large = sessions.data_size(model) >= sessions.EXTERNAL_DATA_FROM
    with sessions.saved(model) as path, quiet() as messages:
        optimized_path = path.with_name("prepared.onnx")
        quant_pre_process(
            path, optimized_path, skip_symbolic_shape=True, save_as_external_data=large, all_tensors_to_one_file=True
        )
        optimized = onnx.load(optimized_path)
    if messages:
        raise ModelError(f"ONNX Runtime does not take the model: {messages[-1]}")
    used = {node.domain for node in optimized.graph.node} | {""}
    for entry in [entry for entry in optimized.opset_import if entry.domain not in used]:
        optimized.opset_import.remove(entry)
    return optimized


@contextmanager
def quiet() -> Iterator[list[str]]:
    """Keeps what ONNX Runtime's quantizer says off the terminal; gives the last line of each error."""
    messages: list[str] = []

    class Collect(logging.Filter):
        def filter(self, record: logging.LogRecord) -> bool:
            if record.levelno >= logging.ERROR:
                messages.extend(record.getMessage().strip().splitlines()[-1:])
            return False

    root, collect = logging.getLogger(), Collect()
    loggers = [root, logging.getLogger("onnxruntime.quantization.shape_inference")]
    for logger in loggers:
        logger.addFilter(collect)
    try:
        # Where the histogram calibrators say what they do, and numpy that values are not finite.
        with redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            yield messages
    finally:
        for logger in loggers:
            logger.removeFilter(collect)

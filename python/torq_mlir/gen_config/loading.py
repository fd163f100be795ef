# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The model of a discovery: prepared, calibrated and quantized, with the lines of its MLIR."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx.external_data_helper import ExternalDataInfo, uses_external_data
from onnxruntime.quantization import CalibrationDataReader
from onnxruntime.quantization.calibrate import TensorsData

from torq_mlir import assignment, quantization
from torq_mlir.errors import ModelError
from torq_mlir.gen_config.files import ModelInfo
from torq_mlir.gen_config.options import ModelOptions
from torq_mlir.importing import import_model
from torq_mlir.numerics.quantize import quantize
from torq_mlir.quantization import synthetic
from torq_mlir.quantization.full_integer import io_qparams
from torq_mlir.quantization.preparation import SourceNode, is_quantized
from torq_mlir.quantization.static import check_float

Reader = CalibrationDataReader | Iterable[Mapping[str, np.ndarray]]


@dataclass(frozen=True)
class QuantizedModel:
    """A model, and what it becomes by the options.

    Attributes:
      info: the model as it was given.
      base: the model that layers are cut out of: in float, or quantized as it was given.
      final: the whole model that is compiled: quantized, if it is to be.
      feeds: samples of the inputs of `base`.
      ranges: of the float tensors; None if nothing is to be quantized.
      sources: where the nodes of `base` come from, by name.
      notes: what was decided on behalf of the user, one line each.
    """

    info: ModelInfo
    base: onnx.ModelProto
    final: onnx.ModelProto
    feeds: list[dict[str, np.ndarray]]
    ranges: TensorsData | None
    sources: Mapping[str, SourceNode]
    notes: tuple[str, ...]

    def final_feed(self) -> dict[str, np.ndarray]:
        """The first sample, as the inputs of `final` take it."""
        return quantize_feed(self.feeds[0], self.final)


@dataclass(frozen=True)
class LoadedModel(QuantizedModel):
    """A model with the lines of its MLIR.

    Attributes:
      text: the MLIR of `final`; lines and columns in it are the keys of the compiler file.
      positions: "line:col" by name of a node of `final`.
      hashes: SHA-256 of what decides the result, by name.
    """

    text: str
    positions: Mapping[str, str]
    hashes: Mapping[str, str]


def quantized_model(
    model: str | os.PathLike | onnx.ModelProto, options: ModelOptions, reader: Reader | None = None
) -> QuantizedModel:
    """Prepare a model, and quantize it if asked.

    Args:
      reader: calibration data, in the place of those that `options` name.

    Raises:
      ModelError: the model is missing, malformed, or cannot be quantized as asked.
      InputError: the calibration data do not fit the model.
      ValueError: a format, dtype or method is not supported.
    """
    chosen, shapes = options.quantization, options.shapes()
    info = describe(model)
    prepared = quantization.prepare(model, batch=options.batch, input_shapes=shapes, optimize=options.quantize)
    base, notes = prepared.model, list(prepared.notes)
    if options.quantize:
        check_float(base, chosen.exclude)
    elif not is_quantized(base):
        notes.append("the model is in float and no quantization was asked for (--quantize): nothing runs on the NPU")
    reader = _reader(base, options) if reader is None else reader
    if reader is None:
        notes.append(synthetic.MESSAGE if options.quantize else "run on synthetic samples of random numbers")
        reader = quantization.synthetic_reader(base, seed=options.seed)
    feeds = quantization.samples(base, reader, options.calibration_samples)
    ranges, final = None, base
    if options.quantize:
        method, percentile = options.calibration_method, options.percentile
        ranges = quantization.calibrate(base, feeds, method=method, percentile=percentile)
        final = quantization.quantize(base, ranges, chosen)
    return QuantizedModel(info, base, final, feeds, ranges, prepared.sources, tuple(notes))


def load_model(
    model: str | os.PathLike | onnx.ModelProto, options: ModelOptions, reader: Reader | None = None
) -> LoadedModel:
    """Prepare a model, quantize it if asked, and import it.

    Raises:
      as `quantized_model`.
    """
    found = quantized_model(model, options, reader)
    module = import_model(found.final).module
    text = assignment.source_text(module)
    positions = assignment.locate(module)
    names = {node.name for node in found.final.graph.node}
    return LoadedModel(
        **{field.name: getattr(found, field.name) for field in fields(found)},
        text=text,
        positions={name: position for name, position in positions.items() if name in names},
        hashes={"quantized_mlir": _sha256([text.encode()]), "calibration_data": _sha256(_bytes_of(found.feeds))},
    )


def describe(model: str | os.PathLike | onnx.ModelProto) -> ModelInfo:
    """Name, path and hash of a model, its external data included.

    Raises:
      ModelError: a file cannot be read.
    """
    if isinstance(model, onnx.ModelProto):
        name = re.sub(r"[^\w.-]", "_", model.graph.name) or "model"  # it becomes part of names of files
        return ModelInfo(name, "", _sha256([model.SerializeToString(deterministic=True)]))
    path = Path(model)
    try:
        return ModelInfo(path.stem, str(model), _sha256(_files(path)))
    except OSError as error:
        raise ModelError(f"{error.filename or path}: {error.strerror}") from error
    except onnx.checker.ValidationError as error:
        raise ModelError(f"{path}: {' '.join(str(error).split())}") from error


def _files(path: Path) -> Iterator[bytes]:
    content = path.read_bytes()
    yield content
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(content)
    except DecodeError:
        return  # what is wrong with it is said when it is loaded
    external = [tensor for tensor in proto.graph.initializer if uses_external_data(tensor)]
    for location in dict.fromkeys(ExternalDataInfo(tensor).location for tensor in external):
        yield from _chunks(path.parent / location)


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(1 << 24):
            yield chunk


def _bytes_of(feeds: Iterable[Mapping[str, np.ndarray]]) -> Iterator[bytes]:
    for feed in feeds:
        for name, array in feed.items():
            yield f"{name} {array.dtype} {array.shape}".encode()
            yield np.ascontiguousarray(array).tobytes()


def _sha256(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _reader(model: onnx.ModelProto, options: ModelOptions) -> Reader | None:
    """The reader of the files that the options name; None for synthetic data."""
    if options.calibration_data is None:
        return None
    path = Path(options.calibration_data)
    if not path.is_dir():
        return quantization.read_npz(path)
    constants = {tensor.name for tensor in model.graph.initializer}
    shapes = {
        value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in model.graph.input
        if value.name not in constants
    }
    return quantization.read_files(path, shapes, mean=options.image_mean, std=options.image_std)


def quantize_feed(feed: Mapping[str, np.ndarray], model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """Float values for the inputs of `model`, quantized where those are integers."""
    qparams = io_qparams(model)
    quantized = {}
    for name, array in feed.items():
        if name in qparams and array.dtype.kind == "f":
            dtype = np.dtype(qparams[name]["dtype"])
            bounds = np.iinfo(dtype)
            scale, zero_point = np.asarray(qparams[name]["scale"], array.dtype), qparams[name]["zero_point"]
            array = quantize(array, scale, zero_point, bounds.min, bounds.max, dtype, divide=True)
        quantized[name] = array
    return quantized

# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ranges of the tensors of a float model on representative data."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import helper
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, create_calibrator
from onnxruntime.quantization.calibrate import TensorsData

from torq_mlir.errors import InputError, ModelError

from . import sessions
from .preparation import quiet
from .readers import FeedReader

METHODS = {
    "minmax": CalibrationMethod.MinMax,
    "entropy": CalibrationMethod.Entropy,
    "percentile": CalibrationMethod.Percentile,
}


def samples(
    model: onnx.ModelProto, reader: CalibrationDataReader | Iterable[Mapping[str, np.ndarray]], limit: int | None = None
) -> list[dict[str, np.ndarray]]:
    """The feeds of a reader, at most `limit`, after a check against the inputs of `model`.

    Raises:
      InputError: a feed lacks an input, has an unknown one or one of another shape or dtype, or values that are not
        finite; or there is no feed.
    """
    reader = reader if isinstance(reader, CalibrationDataReader) else FeedReader(reader)
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in constants]
    feeds: list[dict[str, np.ndarray]] = []
    while limit is None or len(feeds) < limit:
        feed = reader.get_next()
        if feed is None:
            break
        feeds.append(_checked(feed, inputs, len(feeds)))
    if not feeds:
        raise InputError("the calibration data reader yields nothing")
    return feeds


def _checked(feed: object, inputs: Iterable[onnx.ValueInfoProto], index: int) -> dict[str, np.ndarray]:
    where = f"sample {index} of the calibration data"
    if not isinstance(feed, Mapping):
        raise InputError(f"{where} is a {type(feed).__name__}, not a dictionary from input names to arrays")
    names = [value.name for value in inputs]
    if set(feed) != set(names):
        raise InputError(f"{where} has {_quoted(feed)}, but the inputs of the model are {_quoted(names)}")
    for value in inputs:
        tensor, array = value.type.tensor_type, np.asarray(feed[value.name])
        shape = tuple(dim.dim_value for dim in tensor.shape.dim)
        if array.shape != shape:
            raise InputError(f"{where}: '{value.name}' has shape {array.shape}, the input {shape}")
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
        if array.dtype != dtype:
            raise InputError(f"{where}: '{value.name}' is {array.dtype}, the input {dtype}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise InputError(f"{where}: '{value.name}' has NaN or infinite values")
    return {name: np.asarray(feed[name]) for name in names}


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "nothing"


def calibrate(
    model: onnx.ModelProto,
    feeds: Iterable[Mapping[str, np.ndarray]],
    *,
    method: str = "minmax",
    percentile: float = 99.999,
) -> TensorsData:
    """Ranges of all float tensors, by ONNX Runtime's calibration.

    Args:
      feeds: as `samples` returns them.
      method: "minmax", "entropy" or "percentile".
      percentile: of the absolute values, the one that is the end of the range; for that method.

    Raises:
      ValueError: there is no such method.
      ModelError: ONNX Runtime does not take the model or fails to run it.
    """
    if method.lower() not in METHODS:
        raise ValueError(f"there is no calibration method {method!r}; the methods are {', '.join(METHODS)}")
    chosen = METHODS[method.lower()]
    try:
        return _ranges(model, feeds, chosen, percentile)
    except sessions.ERRORS as error:
        raise ModelError(f"ONNX Runtime fails to run the model: {' '.join(str(error).split())}") from error


def _ranges(
    model: onnx.ModelProto, feeds: Iterable[Mapping[str, np.ndarray]], method: CalibrationMethod, percentile: float
) -> TensorsData:
    with sessions.saved(model) as path, quiet():
        calibrator = create_calibrator(
            path,
            augmented_model_path=str(Path(path).with_name("augmented.onnx")),
            calibrate_method=method,
            use_external_data_format=sessions.data_size(model) >= sessions.EXTERNAL_DATA_FROM,
            extra_options={"percentile": percentile} if method is CalibrationMethod.Percentile else {},
        )
        for feed in feeds:  # one at a time: the calibrator keeps all tensors of what it is given at once
            calibrator.collect_data(FeedReader([feed]))
        return calibrator.compute_data()

# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX Runtime sessions that compute a graph as it is written, for models of any size."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx.external_data_helper import set_external_data

from torq_mlir.errors import ModelError
from torq_mlir.files import write_atomically

# A serialized protobuf is less than 2 GiB; names and nodes take the rest.
EXTERNAL_DATA_FROM = 2**31 - 2**26
# Bytes from which a tensor is moved to the second file.
_EXTERNAL_SIZE = 1024


# ONNX Runtime has an exception for each of its error codes, without a common base of its own.
_STATES = onnxruntime.capi.onnxruntime_pybind11_state
ERRORS = (
    _STATES.EPFail,
    _STATES.Fail,
    _STATES.InvalidArgument,
    _STATES.InvalidGraph,
    _STATES.InvalidProtobuf,
    _STATES.NoModel,
    _STATES.NoSuchFile,
    _STATES.NotImplemented,
    _STATES.RuntimeException,
    ValueError,
)


def data_size(model: onnx.ModelProto) -> int:
    """Bytes of the initializers."""
    return sum(len(tensor.raw_data) or tensor.ByteSize() for tensor in model.graph.initializer)


def save(model: onnx.ModelProto, path: Path) -> None:
    """Write a model, with its data in a second file, `<path>.data`, where one file cannot hold it.

    Raises:
      OSError: a file cannot be written.
    """
    if data_size(model) < EXTERNAL_DATA_FROM:
        write_atomically(path, lambda file: file.write(model.SerializeToString()))
        return
    copy = onnx.ModelProto()
    copy.CopyFrom(model)  # saving with external data takes the data out of the model
    data = f"{path.name}.data"
    for tensor in copy.graph.initializer:
        if len(tensor.raw_data) >= _EXTERNAL_SIZE:
            set_external_data(tensor, data)
    # To a folder of its own: what is there is appended to otherwise, and replaced here when all is written.
    with tempfile.TemporaryDirectory(prefix=".torq-mlir-", dir=path.parent) as folder:
        onnx.save(copy, Path(folder) / path.name)
        for name in (data, path.name):
            (Path(folder) / name).replace(path.with_name(name))


@contextmanager
def saved(model: onnx.ModelProto) -> Iterator[Path]:
    """The model as a file, for as long as the context lasts."""
    with tempfile.TemporaryDirectory(prefix="torq-mlir-") as folder:
        path = Path(folder) / "model.onnx"
        save(model, path)
        yield path


def session(model: onnx.ModelProto, *, threads: int = 0) -> onnxruntime.InferenceSession:
    """A session without graph optimizations, which change the results of quantized models.

    Args:
      threads: of one operator; as many as there are cores for 0.

    Raises:
      ModelError: ONNX Runtime does not take the model.
    """
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    options.intra_op_num_threads = threads
    try:
        if data_size(model) < EXTERNAL_DATA_FROM:
            return _open(model.SerializeToString(), options)
        with saved(model) as path:
            return _open(str(path), options)
    except ERRORS as error:
        raise ModelError(f"ONNX Runtime does not take the model: {' '.join(str(error).split())}") from error


def _open(source: bytes | str, options: onnxruntime.SessionOptions) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def run_all(
    model: onnx.ModelProto, feeds: Mapping[str, np.ndarray], names: Sequence[str], *, threads: int = 0
) -> dict[str, np.ndarray]:
    """The tensors `names` of a model, outputs or in between, and the feeds, by name, in one run.

    Raises:
      ModelError: ONNX Runtime does not take the model or fails to run it.
    """
    outputs = {value.name for value in model.graph.output}
    inputs = set(feeds)
    extended = onnx.ModelProto()
    extended.CopyFrom(model)
    wanted = [name for name in dict.fromkeys(names) if name not in inputs]
    if not wanted:  # to ONNX Runtime no names are all outputs
        return dict(feeds)
    extended.graph.output.extend(onnx.ValueInfoProto(name=name) for name in wanted if name not in outputs)
    opened = session(extended, threads=threads)
    try:
        return dict(feeds) | dict(zip(wanted, opened.run(wanted, dict(feeds)), strict=True))
    except ERRORS as error:
        raise ModelError(f"ONNX Runtime fails to run the model: {' '.join(str(error).split())}") from error

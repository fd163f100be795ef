# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dtypes of PyTorch: the element types of the torch dialect and the arrays that hold the same values."""

import ml_dtypes
import numpy as np
import torch
from torch_mlir import ir

from torq_mlir.errors import ModelError

_ELEMENT_TYPES = {
    torch.bool: "i1",
    torch.uint8: "ui8",
    torch.int8: "si8",
    torch.int16: "si16",
    torch.int32: "si32",
    torch.int64: "si64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
}


def check_dtype(dtype: torch.dtype, subject: str) -> None:
    """Raise a ModelError about `subject` unless `dtype` is one of numbers to compute with."""
    if dtype not in _ELEMENT_TYPES:
        raise ModelError(f"{subject}: dtype {str(dtype).removeprefix('torch.')} is not supported")


def element_type(dtype: torch.dtype) -> ir.Type:
    """The element type, with the sign of integers, of `!torch.vtensor`."""
    return ir.Type.parse(_ELEMENT_TYPES[dtype])


def numpy_dtype(dtype: torch.dtype) -> np.dtype:
    """The numpy dtype of the same values."""
    if dtype == torch.bfloat16:
        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(str(dtype).removeprefix("torch."))


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    """The values of a tensor, which share its memory where that is on the host and contiguous."""
    return numpy_view(tensor.detach().cpu().contiguous())


def numpy_view(tensor: torch.Tensor) -> np.ndarray:
    """The memory of a tensor on the host, of any strides, as an array."""
    tensor = tensor.detach().resolve_conj().resolve_neg()  # numpy has no views that negate
    if tensor.dtype == torch.bfloat16:  # which numpy has no buffers of
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def torch_view(array: np.ndarray) -> torch.Tensor:
    """The memory of an array as a tensor; integers of four bits, which PyTorch has no tensors of, as a copy in i8."""
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    if array.dtype in (ml_dtypes.int4, ml_dtypes.uint4):
        return torch.from_numpy(array.astype(np.int8))
    return torch.from_numpy(array)

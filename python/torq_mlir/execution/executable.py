# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls compiled code with numpy arrays."""

import ctypes
import math
from collections.abc import Sequence

import numpy as np
from torch_mlir.execution_engine import ExecutionEngine

from torq_mlir.errors import CompileError, InputError

from .signature import Signature, TensorSpec

_FREE = ctypes.CDLL(None).free
_FREE.restype, _FREE.argtypes = None, [ctypes.c_void_p]
_WORD = np.dtype(np.intp)


class Executable:
    """A compiled function.

    It may be called from several threads at once: a call has its own buffers, and runs outside of the interpreter's
    lock.

    Attributes:
      inputs, results: shape (None where dynamic) and dtype of each; i8 is int8 whatever its meaning.
    """

    def __init__(self, engine: ExecutionEngine, signature: Signature) -> None:
        """Takes the function that has the form `signature.lower` gives it.

        Raises:
          CompileError: LLVM could not link the code.
        """
        self._engine = engine
        self.inputs = signature.inputs
        self.results = signature.results
        self._takes_pointers = signature.takes_pointers
        address = engine.raw_lookup(signature.symbol)
        if not address:
            raise CompileError("the code needs a function that the process does not have")
        self._function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)
        self._constants = [_stored(array, spec) for array, spec in signature.constants]
        self._constant_arguments = self._arguments(self._constants)

    def __call__(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Computes the results.

        Args:
          inputs: one array for each of `self.inputs`, of its shape and dtype, in any memory layout. None is written.

        Returns:
          New arrays.

        Raises:
          InputError: the number, shape or dtype of the inputs is not that of the function.
        """
        if len(inputs) != len(self.inputs):
            raise InputError(f"expected {len(self.inputs)} inputs, got {len(inputs)}")
        arrays = [checked(array, spec, i) for i, (array, spec) in enumerate(zip(inputs, self.inputs, strict=True))]
        outputs = [np.empty(spec.shape, spec.dtype) if spec.is_static else None for spec in self.results]
        returned = [spec for spec in self.results if not spec.is_static]
        returned_words = np.zeros(sum(_words(len(spec.shape)) for spec in returned), _WORD)
        arguments = [returned_words] if returned else []
        arguments += self._arguments(arrays)
        arguments += self._constant_arguments
        arguments += self._arguments([array for array in outputs if array is not None])
        pointers = np.array([argument.ctypes.data for argument in arguments], _WORD)
        slots = pointers.ctypes.data + _WORD.itemsize * np.arange(len(pointers), dtype=_WORD)
        self._function(slots.ctypes.data)
        position = 0
        for i, spec in enumerate(self.results):
            if outputs[i] is None:
                end = position + _words(len(spec.shape))
                outputs[i] = _take(returned_words[position:end], spec)
                position = end
        return [_loaded(array, spec) for array, spec in zip(outputs, self.results, strict=True)]

    def _arguments(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """What a pointer to each is passed of: the buffers themselves, or their descriptors."""
        return list(arrays) if self._takes_pointers else [_descriptor(array) for array in arrays]


def checked(array: np.ndarray, spec: TensorSpec, position: int) -> np.ndarray:
    """The array as compiled code takes it: contiguous.

    Raises:
      InputError: its shape or dtype is not that of the spec.
    """
    array = np.asarray(array)
    if array.dtype != spec.dtype:
        raise InputError(f"input {position} is {array.dtype}, expected {spec.dtype}")
    matches = len(array.shape) == len(spec.shape) and all(
        expected is None or size == expected for size, expected in zip(array.shape, spec.shape, strict=True)
    )
    if not matches:
        expected = "x".join("?" if size is None else str(size) for size in spec.shape) or "a scalar"
        raise InputError(f"input {position} has shape {array.shape}, expected {expected}")
    return _stored(array, spec)


def _stored(array: np.ndarray, spec: TensorSpec) -> np.ndarray:
    """Contiguous, and with zeros in the bits that an integer of less than a byte leaves unused."""
    array = np.ascontiguousarray(array).reshape(array.shape)
    return np.asarray(array & ((1 << spec.bits) - 1)) if _is_narrow(spec) else array


def _loaded(array: np.ndarray, spec: TensorSpec) -> np.ndarray:
    """The inverse of `_stored`: sign-extends integers of less than a byte."""
    unused = 8 - spec.bits
    return np.asarray(array << unused >> unused) if _is_narrow(spec) else array


def _is_narrow(spec: TensorSpec) -> bool:
    return 1 < spec.bits < 8


def _words(rank: int) -> int:
    """Size of a memref descriptor: allocated and aligned pointer, offset, sizes and strides."""
    return 3 + 2 * rank


def _descriptor(array: np.ndarray) -> np.ndarray:
    pointer = array.ctypes.data
    strides = [math.prod(array.shape[d + 1 :]) for d in range(array.ndim)]
    return np.array([pointer, pointer, 0, *array.shape, *strides], _WORD)


def _take(words: np.ndarray, spec: TensorSpec) -> np.ndarray:
    """Copies a buffer that the function allocated, and frees it."""
    allocated, aligned = int(words[0]), int(words[1])
    rank = len(spec.shape)
    shape = tuple(int(size) for size in words[3 : 3 + rank])
    size = math.prod(shape) * spec.dtype.itemsize
    result = np.empty(shape, spec.dtype)
    ctypes.memmove(result.ctypes.data, aligned + int(words[2]) * spec.dtype.itemsize, size)
    _FREE(allocated)
    return result

# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products with weights in groups, many in a module, as they are after the fusion."""

import numpy as np
from kernel_modules import RNG, Cases, constant, integers
from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor

from torq_mlir import pipelines
from torq_mlir.dialects import quantized_decomposed as qd
from torq_mlir.rewriting.structured import build_elementwise

_FUSE = "builtin.module(torq-signed-storage,torq-fuse-quantized-ops,canonicalize,cse)"


def fused(cases: Cases) -> ir.Module:
    module = cases.module()
    pipelines.run(module, _FUSE)
    return module


def product(
    cases: Cases,
    rows: int | tuple[int, ...],
    depth: int,
    columns: int,
    size: int | None,
    *,
    bits: int = 4,
    unsigned: bool = False,
    zero_points: str | int | None = None,
    tokens: str | None = None,
    adds: bool = False,
    moved: bool = False,
    run_time: bool = False,
) -> None:
    """A product of activations with weights in groups of `size` rows.

    Args:
      rows: of the activations; several dimensions for a batch.
      size: of a group; None for weights per channel.
      zero_points: "integers" or "floats" for each group and column, one integer for all, or None.
      tokens: None for activations in float; "symmetric", "asymmetric" or "tensor" for those of 8 bits.
      adds: to an argument.
      run_time: scales and zero points of the activations are arguments.
      moved: the activations are the transposition of a matrix, so that they are copied.
    """
    low = 0 if unsigned else -(1 << bits - 1)
    codes = RNG.integers(low, low + (1 << bits), (columns, depth)).astype(np.uint8 if unsigned else np.int8)
    shape = (columns,) if size is None else (columns, -(-depth // size))
    scales = RNG.uniform(0.5, 1.5, shape).astype(np.float32)
    zeros = _zero_points(zero_points, shape, low, bits, codes.dtype)
    batch = rows if isinstance(rows, tuple) else (rows,)
    x = _activations((*batch, depth), tokens)
    inputs = [np.ascontiguousarray(x.T) if moved else x]
    if adds:
        inputs.append(RNG.standard_normal((*batch, columns)).astype(np.float32))
    parameters = [] if tokens is None else _parameters(batch, tokens)
    inputs += parameters if run_time else []

    def build(x: ir.Value, *others: ir.Value) -> ir.Value:
        weights = _dequantized(codes, scales, zeros, size)
        if moved:
            x = _transposed(x)
        if tokens is not None:
            dequantize = qd.dequantize_per_tensor if tokens == "tensor" else qd.dequantize_per_token
            x = dequantize(x, *(others[adds:] if run_time else map(constant, parameters)), **_form(np.int8))
        return _matmul(x, weights, *others[:adds])

    cases.add(inputs, build)


def _zero_points(
    kind: str | int | None, shape: tuple[int, ...], low: int, bits: int, dtype: np.dtype
) -> np.ndarray | None:
    if kind is None:
        return None
    if kind == "floats":
        return RNG.uniform(low, low + (1 << bits), shape).astype(np.float32)
    if kind == "integers":
        return RNG.integers(low, low + (1 << bits), shape).astype(dtype)
    return np.full(shape, kind, dtype)


def _activations(shape: tuple[int, ...], tokens: str | None) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32) if tokens is None else integers(*shape)


def _form(dtype: np.dtype) -> dict:
    unsigned = np.dtype(dtype).kind == "u"
    type_ = ir.IntegerType.get_unsigned(8) if unsigned else ir.IntegerType.get_signed(8)
    return {"quant_min": 0 if unsigned else -128, "quant_max": 255 if unsigned else 127, "dtype": type_}


def _dequantized(codes: np.ndarray, scales: np.ndarray, zeros: np.ndarray | None, size: int | None) -> ir.Value:
    """[rows, columns] of codes [columns, rows]."""
    values = [codes.view(np.int8), scales]
    if size is None:
        zeros = np.zeros(scales.shape, np.int64) if zeros is None else zeros.astype(np.int64)
        value = qd.dequantize_per_channel(*map(constant, (*values, zeros)), axis=0, **_form(codes.dtype))
    else:
        values += [] if zeros is None else [zeros.view(np.int8) if zeros.dtype == np.uint8 else zeros]
        form = _form(codes.dtype) | {"group_size": size, "axis": 1}
        value = qd.dequantize_per_channel_group(*map(constant, values), **form)
    return _transposed(value)


def _transposed(value: ir.Value) -> ir.Value:
    rows, columns = ir.RankedTensorType(value.type).shape
    empty = tensor.empty([columns, rows], ir.RankedTensorType(value.type).element_type)
    return linalg.transpose(value, outs=[empty], permutation=[1, 0]).operation.results[0]


def _parameters(batch: tuple[int, ...], tokens: str) -> list[np.ndarray]:
    """Scales and zero points of the activations."""
    shape = (1,) if tokens == "tensor" else (*batch, 1)
    zero_points = [] if tokens == "symmetric" else [RNG.integers(-128, 128, shape)]
    return [RNG.uniform(0.01, 0.1, shape), *zero_points]


def _matmul(x: ir.Value, weights: ir.Value, init: ir.Value | None = None) -> ir.Value:
    f32, shape = ir.F32Type.get(), ir.RankedTensorType(weights.type).shape
    extents = [*ir.RankedTensorType(x.type).shape[:-1], shape[-1]]
    if init is None:
        init = linalg.fill(arith.constant(f32, 0.0), outs=[tensor.empty(extents, f32)])
    if len(extents) == 2:
        return linalg.matmul(x, weights, outs=[init])
    empty = tensor.empty([extents[0], *shape], f32)
    repeated = build_elementwise([weights], empty, lambda value: value)  # as torch-mlir writes it
    return linalg.batch_matmul(x, repeated, outs=[init])

# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of linalg, of sizes that fill no vector, for `kernel_modules.Cases`."""

from collections.abc import Callable, Sequence

import ml_dtypes
import numpy as np
from kernel_modules import RNG, Cases, constant, integers
from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, math, tensor

from torq_mlir.dialects import elements
from torq_mlir.rewriting.structured import (
    PARALLEL,
    REDUCTION,
    build_elementwise,
    build_generic,
    projection,
    scalar_constant,
)


def floats(*shape: int, dtype: type = np.float32) -> np.ndarray:
    """Some of them are -0."""
    values = RNG.normal(0, 3, shape)
    return np.where(RNG.random(shape) < 0.1, -0.0, values).astype(dtype)


def empty(shape: Sequence[int], dtype: type) -> ir.Value:
    return tensor.empty(list(shape), elements.element_type(np.dtype(dtype)))


def reduced(
    x: ir.Value,
    dimensions: Sequence[int],
    combine: Callable[..., ir.Value],
    initial: float,
    dtype: type = np.float32,
    keep: bool = False,
) -> ir.Value:
    """A reduction over dimensions, which are kept with a size of 1 or left out."""
    shape = ir.RankedTensorType(x.type).shape
    rank, element = len(shape), elements.element_type(np.dtype(dtype))
    zero = ir.AffineExpr.get_constant(0)
    results = [
        zero if d in dimensions else ir.AffineExpr.get_dim(d) for d in range(rank) if keep or d not in dimensions
    ]
    target = [1 if d in dimensions else shape[d] for d in range(rank) if keep or d not in dimensions]
    init = linalg.fill(scalar_constant(element, initial), outs=[empty(target, dtype)])
    maps = [ir.AffineMap.get_identity(rank), ir.AffineMap.get(rank, 0, results)]
    kinds = [REDUCTION if d in dimensions else PARALLEL for d in range(rank)]
    return build_generic([x], init, maps, kinds, combine)


def product(x: ir.Value, w: ir.Value, loops: tuple[str, str, str], combine: Callable[..., ir.Value], dtype: type):
    """`y[..] += combine(x[..], w[..])`, with a letter for each loop: of x, of w and of the result, in this order."""
    names = "".join(dict.fromkeys(loops[2] + loops[0]))
    sizes = {}
    for value, letters in zip((x, w), loops, strict=False):
        sizes |= zip(letters, ir.RankedTensorType(value.type).shape, strict=True)
    maps = [projection(len(names), [names.index(each) for each in letters]) for letters in loops]
    kinds = [PARALLEL if name in loops[2] else REDUCTION for name in names]
    zero = scalar_constant(elements.element_type(np.dtype(dtype)), 0)
    init = linalg.fill(zero, outs=[empty([sizes[name] for name in loops[2]], dtype)])
    return build_generic([x, w], init, maps, kinds, combine)


def activation(x: ir.Value, y: ir.Value) -> ir.Value:
    """Of floats; y broadcasts."""

    def body(x: ir.Value, y: ir.Value) -> ir.Value:
        value = math.erf(arith.divf(arith.subf(x, y), scalar_constant(x.type, 1.7)))
        return arith.mulf(math.exp(value), arith.maximumf(math.tanh(y), x))

    return build_elementwise([x, y], tensor.empty(x.type.shape, x.type.element_type), body)


def quantized(x: ir.Value, scale: ir.Value, *, unsigned: bool = True) -> ir.Value:
    """Bytes of a tensor, with a scale in a tensor of one element and a zero point of 7."""
    low, high = (0, 255) if unsigned else (-128, 127)
    step = tensor.extract(scale, [arith.constant(ir.IndexType.get(), 0)])
    convert = arith.fptoui if unsigned else arith.fptosi

    def body(x: ir.Value) -> ir.Value:
        value = arith.addf(math.roundeven(arith.divf(x, step)), scalar_constant(x.type, 7))
        value = arith.minimumf(arith.maximumf(value, scalar_constant(x.type, low)), scalar_constant(x.type, high))
        return convert(ir.IntegerType.get_signless(8), value)

    return build_elementwise([x], empty(x.type.shape, np.int8), body)


def dequantized(x: ir.Value, bias: np.ndarray) -> ir.Value:
    def body(x: ir.Value, bias: ir.Value) -> ir.Value:
        value = arith.sitofp(ir.F32Type.get(), x)
        return arith.addf(arith.mulf(value, scalar_constant(value.type, 0.0173)), bias)

    return build_elementwise([x, constant(bias)], empty(x.type.shape, np.float32), body)


def elementwise(cases: Cases) -> None:
    for shape in ((1,), (7,), (33,), (3, 17), (2, 5, 3), (4, 16)):
        cases.add([floats(*shape), floats(*shape)], activation)
    for other in ((17,), (3, 1), (1, 1), (1,)):
        cases.add([floats(3, 17), floats(*other)], activation)
    cases.add([floats(3, 170, dtype=ml_dtypes.bfloat16), floats(170, dtype=ml_dtypes.bfloat16)], activation)
    cases.add(
        [floats(2, 5, 19, dtype=np.float64)], lambda x: build_elementwise([x], x_like(x), lambda x: arith.mulf(x, x))
    )
    cases.add([floats(5, 19), floats(1)], lambda x, s: quantized(x, s, unsigned=False))
    cases.add([integers(3, 17)], lambda x: dequantized(x, floats(17)))
    cases.add([integers(3, 17), integers(17, 3)], exchanged)
    cases.add([floats(9, 17)], transposed)
    cases.add([integers(300, dtype=np.int64)], numbered)
    cases.add([floats(12000)], lambda x: activation(x, constant(np.float32([0.3]))))


def x_like(x: ir.Value) -> ir.Value:
    return tensor.empty(x.type.shape, x.type.element_type)


def exchanged(x: ir.Value, y: ir.Value) -> ir.Value:
    """The greater one of x and y transposed."""
    maps = [projection(2, [0, 1]), projection(2, [1, 0]), projection(2, [0, 1])]

    def body(x: ir.Value, y: ir.Value, _: ir.Value) -> ir.Value:
        return arith.select(arith.cmpi(arith.CmpIPredicate.sgt, x, y), x, y)

    return build_generic([x, y], x_like(x), maps, [PARALLEL] * 2, body)


def transposed(x: ir.Value) -> ir.Value:
    """Read where it is; and once more against the order of memory."""
    shape = ir.RankedTensorType(x.type).shape
    turned = linalg.transpose(x, outs=[empty(shape[::-1], np.float32)], permutation=[1, 0])
    turned = turned.operation.results[0]
    maps = [projection(2, [0, 1]), projection(2, [1, 0]), projection(2, [0, 1])]
    kinds = [PARALLEL] * 2
    return build_generic([turned, x], x_like(turned), maps, kinds, lambda a, b, _: arith.subf(a, arith.mulf(b, b)))


def numbered(x: ir.Value) -> ir.Value:
    def body(x: ir.Value) -> ir.Value:
        return arith.addi(x, arith.index_cast(x.type, linalg.IndexOp(0).result))

    return build_elementwise([x], x_like(x), body)


def reductions(cases: Cases) -> None:
    def total(x: ir.Value, sum_: ir.Value) -> ir.Value:
        return arith.addf(arith.mulf(x, x), sum_)

    for shape in ((1, 3), (3, 1), (17, 16), (33, 37), (2, 5, 70)):
        last = len(shape) - 1
        cases.add([floats(*shape)], lambda x, d=last: reduced(x, [d], total, -0.0, keep=d == 1))
    cases.add([floats(2, 7, 33)], lambda x: reduced(x, [1], total, 0))
    cases.add([floats(2, 130, 5)], lambda x: reduced(x, [0, 1], total, 0))
    cases.add([floats(3, 2, 5, 7)], lambda x: reduced(x, [2, 3], total, 0, keep=True))
    cases.add([floats(40, 3, dtype=np.float64)], lambda x: reduced(x, [1], total, 0, np.float64))
    for extreme, initial in ((arith.maximumf, -np.inf), (arith.minimumf, np.inf)):
        for shape in ((3, 5), (2, 150), (16, 64)):
            cases.add([floats(*shape)], lambda x, e=extreme, i=initial: reduced(x, [1], e, i))
        zeros = np.where(RNG.random((5, 40)) < 0.5, -0.0, 0.0).astype(np.float32)
        with_nan = np.where(np.arange(200).reshape(5, 40) == 127, np.float32(np.nan), zeros)
        for x in (zeros, with_nan):
            cases.add([x], lambda x, e=extreme, i=initial: reduced(x, [0, 1], e, i))
    cases.add([integers(3, 77)], lambda x: reduced(x, [1], arith.maxsi, -128, np.int8))
    wide = ir.IntegerType.get_signless
    cases.add(
        [integers(3, 277)], lambda x: reduced(x, [1], lambda x, s: arith.addi(arith.extsi(wide(32), x), s), 3, np.int32)
    )


def products(cases: Cases) -> None:
    def multiply(x: ir.Value, w: ir.Value, total: ir.Value) -> ir.Value:
        return arith.addf(total, arith.mulf(x, w))

    for m, k, n in ((1, 3, 1), (7, 15, 17), (33, 17, 3), (5, 16, 64), (2, 9, 70)):
        cases.add([floats(m, k), floats(k, n)], lambda x, w: product(x, w, ("mk", "kn", "mn"), multiply, np.float32))
    cases.add([floats(3, 7, 9), floats(3, 9, 18)], named_product)
    cases.add([floats(5, 9), floats(18, 9)], lambda x, w: product(x, w, ("mk", "nk", "mn"), multiply, np.float32))
    cases.add(
        [floats(7, 3, 9), floats(9, 3, 18)], lambda x, w: product(x, w, ("mbk", "kbn", "bmn"), multiply, np.float32)
    )
    double = [floats(5, 9, dtype=np.float64), floats(9, 19, dtype=np.float64)]
    cases.add(double, lambda x, w: product(x, w, ("mk", "kn", "mn"), multiply, np.float64))


def named_product(x: ir.Value, w: ir.Value) -> ir.Value:
    shape = [x.type.shape[0], x.type.shape[1], w.type.shape[2]]
    init = linalg.fill(scalar_constant(ir.F32Type.get(), 0), outs=[empty(shape, np.float32)])
    return linalg.batch_matmul(x, w, outs=[init])


def integer_products(cases: Cases) -> None:
    """Bytes with zero points that are known at run time."""
    for m, k, n in ((1, 3, 1), (7, 15, 17), (33, 17, 3), (40, 8, 70)):
        for unsigned in (True, False):
            w = integers(k, n)
            cases.add([floats(m, k), np.float32([0.02]), integers(1)], dynamic(w, unsigned, "kn"))
    cases.add([integers(7, 15)], lambda x: quantized_product(x, constant(integers(15, 17))))
    cases.add([floats(2, 3, 12), np.float32([0.02]), integers(1)], dynamic(integers(5, 12), True, "nk"))
    cases.add([floats(4, 12), np.float32([0.02]), integers(1)], dynamic(np.maximum(integers(12, 5), 0), True, "kn", 3))


def quantized_product(x: ir.Value, w: ir.Value) -> ir.Value:
    zero = scalar_constant(ir.IntegerType.get_signless(32), 0)
    init = linalg.fill(zero, outs=[empty([x.type.shape[0], w.type.shape[1]], np.int32)])
    return linalg.quantized_matmul(x, w, zero, zero, outs=[init])


def dynamic(w: np.ndarray, unsigned: bool, loops: str, weight_zero_point: int = 0) -> Callable[..., ir.Value]:
    """Quantizes, and multiplies with weights."""

    def build(x: ir.Value, scale: ir.Value, zero_point: ir.Value) -> ir.Value:
        wide = ir.IntegerType.get_signless(32)
        bytes_ = quantized(x, scale, unsigned=unsigned)
        extend = arith.extui if unsigned else arith.extsi
        zero = extend(wide, tensor.extract(zero_point, [arith.constant(ir.IndexType.get(), 0)]))
        offset = scalar_constant(wide, weight_zero_point)

        def body(x: ir.Value, w: ir.Value, total: ir.Value) -> ir.Value:
            factor = arith.extsi(wide, w)
            factor = arith.subi(factor, offset) if weight_zero_point else factor
            return arith.addi(total, arith.muli(arith.subi(extend(wide, x), zero), factor))

        batch = "abm"[3 - len(x.type.shape) + 1 :] if len(x.type.shape) > 2 else "m"
        return product(bytes_, constant(w), (f"{batch}k", loops, f"{batch}n"), body, np.int32)

    return build


ALL = {
    "elementwise": elementwise,
    "reductions": reductions,
    "products": products,
    "integer_products": integer_products,
}

# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations converted to TOSA and StableHLO give the bits of `numerics`, which are those of PyTorch."""

import numpy as np
import pytest
from lowering import TARGETS, Batch, convert, element_type, execute, integer_type, reference, signless
from modules_under_test import constant
from random_arrays import FLOATS, STORAGE, bounds, floats, integers, one_of, scales
from torch_mlir import ir
from torch_mlir.dialects import arith

from torq_mlir.dialects import elements, quantized_decomposed
from torq_mlir.numerics import choose_qparams, conversion, fake_quantize, groups
from torq_mlir.numerics.quantize import dequantize, quantize

INTEGERS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64)


def _builders(granularity: str):
    return (getattr(quantized_decomposed, f"{way}_{granularity}") for way in ("quantize", "dequantize"))


def tensor_and_channel(rng: np.random.Generator) -> Batch:
    batch = Batch()
    for index in range(10):
        shape = tuple(rng.integers(1, 5, rng.integers(0, 4)))
        axis = None if not shape or rng.random() < 0.5 else int(rng.integers(-len(shape), len(shape)))
        count = () if axis is None else (shape[axis],)
        dtype, divide, is_constant = one_of(rng, STORAGE), bool(rng.integers(2)), bool(rng.integers(2))
        low, high = bounds(rng, dtype)
        scale = scales(rng, count, np.float32 if divide else one_of(rng, FLOATS))
        zero_point = integers(rng, count, one_of(rng, (dtype, np.int32, np.int64)), -100, 100)
        zero_point = zero_point * 0 if rng.random() < 0.3 else zero_point
        x, q = floats(rng, shape, one_of(rng, FLOATS)), integers(rng, shape, dtype)
        result = one_of(rng, FLOATS)
        form = {} if axis is None else {"axis": axis}
        storage = {"quant_min": low, "quant_max": high, "dtype": dtype}

        def body(x, q, *operands, scale=scale, zero_point=zero_point, form=form, storage=storage, result=result,
                 divide=divide):  # fmt: skip
            granularity = "per_channel" if form else "per_tensor"
            operands = operands or (constant(scale), constant(signless(zero_point)))
            attributes = form | storage | {"dtype": integer_type(storage["dtype"])}
            quantized = getattr(quantized_decomposed, f"quantize_{granularity}")(
                x, *operands, divide=divide, **attributes
            )
            target = {"result_element_type": elements.element_type(np.dtype(result))}
            build = getattr(quantized_decomposed, f"dequantize_{granularity}")
            return quantized, build(q, *operands, **target, **attributes)

        expected = [
            quantize(x, scale, zero_point, low, high, dtype, axis=axis, divide=divide),
            dequantize(q, scale, zero_point, axis=axis, dtype=result),
        ]
        name = f"{index}: {x.dtype} {scale.dtype} {np.dtype(dtype)} axis {axis} divide {divide} constant {is_constant}"
        batch.add(name, [x, q] if is_constant else [x, q, scale, zero_point], expected, body)
    return batch


def tokens_and_groups(rng: np.random.Generator) -> Batch:
    batch = Batch()
    for index in range(10):
        rank = int(rng.integers(1, 4))
        shape, axis = [int(size) for size in rng.integers(1, 4, rank)], int(rng.integers(-rank, rank))
        count, size = (int(rng.integers(1, high)) for high in (4, 5))
        counts = list(shape)
        shape[axis], counts[axis] = count * size, count
        form = {"axis": axis, "group_size": size + (int(rng.integers(0, 3)) if count == 1 else 0)}
        per_token = rng.random() < 0.4
        if per_token:
            form, counts = {}, [*shape[:-1], 1]
        dtype, result, is_constant = one_of(rng, STORAGE), one_of(rng, FLOATS), bool(rng.integers(2))
        steps = {"round_first": bool(rng.integers(2))}
        if not per_token:
            steps["divide"] = bool(rng.integers(2))
        low, high = bounds(rng, dtype)
        parameters = [scales(rng, counts, one_of(rng, FLOATS))]
        kind = one_of(rng, (None, np.int32, np.int64, np.int8, *FLOATS))
        if kind in FLOATS:
            parameters.append(rng.normal(0, 20, counts).astype(kind))
        elif kind is not None:
            parameters.append(integers(rng, counts, kind, 0 if np.dtype(dtype).kind == "u" else -100, 100))
        x, q = floats(rng, shape, one_of(rng, FLOATS)), integers(rng, shape, dtype)
        storage = {"quant_min": low, "quant_max": high, "dtype": dtype}

        def body(x, q, *operands, parameters=parameters, form=form, steps=steps, storage=storage, result=result):
            granularity = "per_channel_group" if form else "per_token"
            operands = operands or [constant(signless(each)) for each in parameters]
            attributes = form | storage | {"dtype": integer_type(storage["dtype"])}
            quantize_form, dequantize_form = _builders(granularity)
            target = {"result_element_type": elements.element_type(np.dtype(result))}
            return (
                quantize_form(x, *operands, **steps, **attributes),
                dequantize_form(q, *operands, **target, **attributes),
            )

        both = [*parameters, None][:2]
        granularity = "per_token" if per_token else "per_channel_group"
        expected = [
            getattr(groups, f"quantize_{granularity}")(x, *both, low, high, dtype, **form, **steps),
            getattr(groups, f"dequantize_{granularity}")(q, *both, **form, dtype=result),
        ]
        name = f"{index}: {x.dtype} {parameters[0].dtype} {np.dtype(dtype)} {kind} {form} {steps}"
        batch.add(name, [x, q] if is_constant else [x, q, *parameters], expected, body)
    return batch


def chosen_parameters(rng: np.random.Generator) -> Batch:
    batch = Batch()
    for index in range(2):
        dtype, eps = one_of(rng, STORAGE), one_of(rng, (1e-12, 2.0**-23, 1.0))
        low, high = bounds(rng, dtype)
        low = min(low, 0)
        shape = tuple(rng.integers(1, 5, rng.integers(0, 4)))
        x = floats(rng, shape, one_of(rng, FLOATS[:3])) if index else rng.normal(0, 3, (3, 4)).astype(np.float32)
        expected = [
            *choose_qparams.choose_qparams(x, low, high, eps),
            *choose_qparams.choose_qparams_symmetric(x, low, high, eps, dtype),
        ]

        def per_tensor(x, low=low, high=high, eps=eps, dtype=dtype):
            attributes = {"quant_min": low, "quant_max": high, "eps": eps, "dtype": integer_type(dtype)}
            return (
                *quantized_decomposed.choose_qparams(x, **attributes),
                *quantized_decomposed.choose_qparams_symmetric(x, **attributes),
            )

        batch.add(f"{index}: per tensor, {x.dtype} {np.dtype(dtype)}", [x], expected, per_tensor)
        x = floats(rng, (2, 3, 4), one_of(rng, FLOATS)) if index else rng.normal(0, 3, (5, 4)).astype(np.float32)
        asymmetric = choose_qparams.choose_qparams_per_token_asymmetric(x)
        expected = [*choose_qparams.choose_qparams_per_token(x), *asymmetric, *asymmetric]

        def per_token(x):
            si8 = integer_type(np.int8)
            return (
                *quantized_decomposed.choose_qparams_per_token(x, dtype=si8),
                *quantized_decomposed.choose_qparams_per_token_asymmetric(x, dtype=si8),
                *quantized_decomposed._choose_qparams_per_token_asymmetric_impl(x, dtype=si8),
            )

        batch.add(f"{index}: per token, {x.dtype}", [x], expected, per_token)
    return batch


def fake_quantization(rng: np.random.Generator) -> Batch:
    batch = Batch()
    for zero_points in (np.int8, np.int32, np.int64):
        x, scale = floats(rng, (3, 4), np.float32), scales(rng, 4, one_of(rng, FLOATS))
        zero_point = integers(rng, 4, zero_points)
        expected = fake_quantize.fake_quant_per_channel(x, scale, zero_point, 1, -100, 90)

        def body(x, scale, zero_point):
            form = {"axis": -1, "quant_min": -100, "quant_max": 90}
            return quantized_decomposed.fake_quant_per_channel(x, scale, zero_point, **form)

        batch.add(f"zero points {np.dtype(zero_points)}", [x, scale, zero_point], [expected], body)
    return batch


def conversions(rng: np.random.Generator) -> Batch:
    batch = Batch()
    large = np.array([2.0**31, -(2.0**31), 2.0**63, 2.0**31 + 300, 1e12, -1e20, 65535.9, -0.9, -(2.0**31) - 0.5])
    targets = [*FLOATS, *INTEGERS, np.bool_]
    for source in targets:
        if source in FLOATS:
            with np.errstate(over="ignore"):
                more = large.astype(np.float32 if source != np.float64 else source).astype(source)
            x = np.concatenate([floats(rng, 30, source), more])
        else:
            x = rng.random(30) < 0.5 if source == np.bool_ else integers(rng, 30, source)
        expected = [conversion.convert_element_type(x, target) for target in targets]

        def body(x, source=source):
            types = [element_type(target) for target in targets]
            return [
                quantized_decomposed.convert_element_type(x, dtype=to, input_dtype=element_type(source)) for to in types
            ]

        batch.add(str(np.dtype(source)), [x], expected, body)
    return batch


BATCHES = (tensor_and_channel, tokens_and_groups, chosen_parameters, fake_quantization, conversions)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("batch", BATCHES, ids=lambda make: make.__name__)
def test_compiled(batch, seed, target):
    made = batch(np.random.default_rng(seed))
    made.check(execute(convert(made.module(), target), target, made.inputs))


@pytest.mark.parametrize("seed", range(2, 12))
@pytest.mark.parametrize("batch", BATCHES, ids=lambda make: make.__name__)
def test_reference_interpreter(batch, seed):
    made = batch(np.random.default_rng(seed))
    made.check(reference(convert(made.module(), "stablehlo"), made.inputs))


@pytest.mark.parametrize("batch", [tensor_and_channel, chosen_parameters, fake_quantization, conversions],
                         ids=lambda make: make.__name__)  # fmt: skip
def test_dynamic_shapes(batch):
    made = batch(np.random.default_rng(20))
    made.check(execute(convert(made.module(dynamic=True), "stablehlo"), "stablehlo", made.inputs))


@pytest.mark.parametrize("target", TARGETS)
def test_four_bits_in_groups(target):
    q = np.arange(-8, 8, dtype=np.int8).reshape(2, 8)
    scale = np.float32([[0.5, 0.25], [2, 3]])
    batch = Batch()

    def body(scale):
        weights = arith.constant(None, elements.from_numpy(q, ir.IntegerType.get_signless(4)))
        form = {"quant_min": -8, "quant_max": 7, "group_size": 4, "dtype": ir.IntegerType.get_signed(4)}
        return quantized_decomposed.dequantize_per_channel_group(weights, scale, **form)

    expected = groups.dequantize_per_channel_group(q, scale, None, group_size=4)
    batch.add("four bits", [scale], [expected], body)
    batch.check(execute(convert(batch.module(), target), target, batch.inputs))

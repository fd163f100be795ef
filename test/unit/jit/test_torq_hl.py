# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled torq_hl gives the same bits as the interpreter, which defines it."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from modules_under_test import assert_same, constant, module_of
from torch_mlir.dialects import tensor

from torq_mlir.backends import interpreter, jit
from torq_mlir.dialects import elements, torq_hl
from torq_mlir.errors import CompileError

# numpy warns of the NaN and infinities that are computed with on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

few = settings(max_examples=12)
BFLOAT16 = ml_dtypes.bfloat16
FLOATS = [np.float32, BFLOAT16]


def agree(inputs, body):
    """Both executors, on the module that `body` builds."""
    module = module_of(inputs, body)
    expected = interpreter.run(module, inputs)
    for actual, reference in zip(jit.compile(module)(inputs), expected, strict=True):
        assert_same(actual, reference)


def integers(dtype, shape):
    limits = np.iinfo(dtype)
    return hnp.arrays(dtype, shape, elements=st.integers(limits.min, limits.max), fill=st.nothing())


def floats(dtype, shape):
    special = st.sampled_from([np.nan, np.inf, -np.inf, -0.0, 0.5, 1.5, 2.5, -2.5, 127.5, 1e9, -1e38])
    values = st.one_of(st.floats(-200, 200, width=16), special)
    return hnp.arrays(np.float32, shape, elements=values, fill=st.nothing()).map(lambda array: array.astype(dtype))


@st.composite
def pairs(draw, channels):
    """(bias, multiplier) for each of so many channels."""
    bias = draw(hnp.arrays(np.int32, channels, elements=st.integers(-(2**20), 2**20)))
    multiplier = draw(hnp.arrays(np.int32, channels, elements=st.integers(-(2**31), 2**31 - 1)))
    return np.stack([bias, multiplier], axis=1).reshape(-1)


@st.composite
def outputs(draw, shift_name="shift_factor", dtype=np.int8):
    """Attributes of the rescale, and the element type that they are for."""
    limits = np.iinfo(dtype)
    low = draw(st.one_of(st.just(limits.min), st.integers(int(limits.min), 0)))
    high = draw(st.one_of(st.just(limits.max), st.integers(1, int(limits.max))))
    return {
        shift_name: draw(st.one_of(st.integers(0, 70), st.sampled_from([0, 1, 32, 62, 63, 64]))),
        "output_zp": draw(st.integers(-128, 127)),
        "output_min": int(low),
        "output_max": int(high),
    }


def storage(dtype):
    return lambda: elements.element_type(np.dtype(dtype))


@st.composite
def windows(draw, rank):
    """Kernel, stride, dilation, pad and an input size for each spatial dimension; pad innermost dimension first."""
    kernel, stride, dilation, pad, size = [], [], [], [], []
    for _ in range(rank):
        kernel.append(draw(st.integers(1, 3)))
        stride.append(draw(st.integers(1, 3)))
        dilation.append(draw(st.integers(1, 2)))
        pad[:0] = draw(st.tuples(st.integers(0, 2), st.integers(0, 2)))
        extent = dilation[-1] * (kernel[-1] - 1) + 1
        size.append(draw(st.integers(max(1, extent - sum(pad[:2])), 12)))
    return kernel, stride, dilation, pad, size


@st.composite
def convolutions(draw, rank, depthwise):
    kernel, stride, dilation, pad, size = draw(windows(rank))
    groups = draw(st.integers(1, 3))
    per_group = 1 if depthwise else draw(st.integers(1, 3))
    outputs_per_group = draw(st.sampled_from([1, 2, 18]))
    dtype = draw(st.sampled_from([np.int8, np.int16]))
    channels, channels_last = groups * per_group, rank == 2 and draw(st.booleans())
    shape = [draw(st.integers(1, 2)), *([] if channels_last else [channels]), *size]
    x = draw(integers(np.int8, [*shape, channels] if channels_last else shape))
    w = draw(integers(dtype, [groups * outputs_per_group, per_group, *kernel]))
    scale_bias = draw(pairs(draw(st.sampled_from([1, len(w)]))))
    attributes = {"groups": groups, "pad": pad, "stride": stride, "dilation": dilation}
    attributes["input_zp"] = draw(st.integers(-128, 127))
    if channels_last:
        attributes["nhwc_input"] = True
    return x, w, scale_bias, attributes


@pytest.mark.parametrize("constant_weights", [True, False])
@pytest.mark.parametrize(
    ("builder", "rank", "depthwise"),
    [(torq_hl.conv2d, 2, False), (torq_hl.depthwise_conv2d, 2, True), (torq_hl.conv1d, 1, False)],
)
@few
@given(data=st.data())
def test_convolution(builder, rank, depthwise, constant_weights, data):
    x, w, scale_bias, attributes = data.draw(convolutions(rank, depthwise))
    dtype = data.draw(st.sampled_from([np.int8, np.int16, np.int32]))
    attributes |= data.draw(outputs(dtype=dtype))
    element = storage(dtype)
    if constant_weights:
        agree([x], lambda x: builder(constant(w), constant(scale_bias), x, element_type=element(), **attributes))
    else:
        agree([x, w, scale_bias], lambda x, w, s: builder(w, s, x, element_type=element(), **attributes))


@few
@given(data=st.data())
def test_fully_connected(data):
    leading = data.draw(st.lists(st.integers(1, 3), max_size=2))
    depth, columns = data.draw(st.integers(1, 9)), data.draw(st.sampled_from([1, 3, 18]))
    x = data.draw(integers(np.int8, [*leading, depth]))
    w = data.draw(integers(data.draw(st.sampled_from([np.int8, np.int16])), [depth, columns]))
    scale_bias = data.draw(pairs(data.draw(st.sampled_from([1, columns]))))
    attributes = data.draw(outputs()) | {"input_zp": 0}
    agree([x], lambda x: torq_hl.fully_connected(constant(w), constant(scale_bias), x, **attributes))


@few
@given(data=st.data())
def test_matmul(data):
    leading = data.draw(st.lists(st.integers(1, 3), max_size=2))
    m, k, n = (data.draw(st.integers(1, 9)) for _ in range(3))
    x1 = data.draw(integers(np.int8, [*leading, m, k]))
    x2 = data.draw(integers(np.int8, [*leading, k, n]))
    scale_bias = data.draw(pairs(1))
    attributes = data.draw(outputs("shift")) | {"input1_unsigned": data.draw(st.booleans())}
    agree([x1, x2], lambda x1, x2: torq_hl.matmul(constant(scale_bias), x1, x2, **attributes))


@st.composite
def broadcasting(draw, draw_array, dtype):
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=4)).input_shapes
    return [draw(draw_array(dtype, shape)) for shape in shapes]


@few
@given(data=st.data())
def test_add(data):
    x1, x2 = data.draw(broadcasting(integers, data.draw(st.sampled_from([np.int8, np.int16]))))
    weights, scale_bias = data.draw(integers(np.int16, 2)), data.draw(pairs(1))
    attributes = data.draw(outputs()) | {"name": "add", "input_zp": 0}
    element = storage(np.int8)
    agree(
        [x1, x2],
        lambda x1, x2: torq_hl.add(
            constant(weights), constant(scale_bias), x1, x2, element_type=element(), **attributes
        ),
    )


def test_add_of_a_scalar():
    x1, x2 = np.arange(-6, 6, dtype=np.int8).reshape(3, 4), np.array([[7]], np.int8)
    attributes = {"output_zp": 1, "output_min": -100, "output_max": 100, "shift_factor": 8, "rhs_is_scalar": True}
    weights, scale_bias = np.array([300, -200], np.int16), np.array([5, 1], np.int32)
    agree(
        [x1, x2, weights, scale_bias],
        lambda x1, x2, w, s: torq_hl.add(w, s, x1, x2, name="sub", input_zp=0, **attributes),
    )


def test_add_of_constants_that_differ_between_elements():
    """LLVM's vectorizer joins the additions of different constants wrongly, if it sees the constants."""
    x = np.random.default_rng(0).integers(-128, 128, (8, 3, 5), np.int8)
    rows, highest_bit = np.array([[72], [26], [121]], np.int8), np.array([-128], np.int8)
    attributes = {"output_zp": -124, "output_min": -128, "output_max": 127, "shift_factor": 16}

    def body(x):
        x = torq_hl.elementwisebinary(x, constant(highest_bit), op_type=2)
        weights, scale_bias = constant(np.array([13737, 2667], np.int16)), constant(np.array([-338709, 1], np.int32))
        return torq_hl.add(weights, scale_bias, constant(rows), x, name="add", input_zp=0, **attributes)

    agree([x], body)


@few
@given(data=st.data())
def test_mul(data):
    x1, x2 = data.draw(broadcasting(integers, data.draw(st.sampled_from([np.int8, np.int16]))))
    scale_bias = data.draw(pairs(1))
    attributes, element = data.draw(outputs("shift")), storage(np.int8)
    agree([x1, x2], lambda x1, x2: torq_hl.mul(constant(scale_bias), x1, x2, element_type=element(), **attributes))


@few
@given(data=st.data())
def test_mul_of_floats(data):
    x1, x2 = data.draw(broadcasting(floats, BFLOAT16))
    bias = data.draw(floats(np.float32, 1))
    attributes = {"output_zp": 0, "output_min": 0, "output_max": 0, "shift": 0}
    agree([x1, x2], lambda x1, x2: torq_hl.mul(constant(bias), x1, x2, **attributes))


@few
@given(data=st.data())
def test_fma(data):
    shape = data.draw(hnp.array_shapes(max_dims=4, max_side=5))
    channels = shape[1] if len(shape) > 2 else shape[-1]
    x = data.draw(integers(np.int8, shape))
    weights = data.draw(integers(np.int16, data.draw(st.sampled_from([1, channels]))))
    scale_bias = data.draw(pairs(data.draw(st.sampled_from([1, channels]))))
    dtype = data.draw(st.sampled_from([np.int8, np.int16, np.int32]))
    attributes = data.draw(outputs(dtype=dtype)) | {"input_unsigned": data.draw(st.booleans())}
    element = storage(dtype)
    agree(
        [x],
        lambda x: torq_hl.fma(constant(weights), constant(scale_bias), x, element_type=element(), **attributes),
    )


ACTS = [
    *(("f2f", source, target) for source in FLOATS for target in FLOATS),
    *(("f2i", source, target) for source in FLOATS for target in (np.int8, np.int16, np.int32)),
    *(("i2f", source, target) for source in (np.int8, np.int32) for target in FLOATS),
    *((name, source, source) for name in ("clamp", "abs", "negate") for source in (np.int8, np.int32, *FLOATS)),
    *(("tanh", source, source) for source in FLOATS),
]


@pytest.mark.parametrize(("name", "source", "target"), ACTS)
@settings(max_examples=3)
@given(data=st.data())
def test_act(name, source, target, data):
    draw_array = floats if source in FLOATS else integers
    x = data.draw(draw_array(source, 40))
    attributes = {
        "input_zp": data.draw(st.integers(-128, 127)),
        "output_zp": data.draw(st.integers(-128, 127)),
        "min_int": data.draw(st.integers(-200, 0)),
        "max_int": data.draw(st.integers(0, 200)),
        "min_fp": data.draw(st.floats(-10, 0, width=32)),
        "max_fp": data.draw(st.floats(0, 10, width=32)),
    }
    element = storage(target)
    agree([x], lambda x: torq_hl.act(x, name=name, element_type=element(), **attributes))


CONVERSIONS = [np.bool_, np.int8, np.int16, np.int32, *FLOATS]


@pytest.mark.parametrize("target", CONVERSIONS[1:])
@pytest.mark.parametrize("source", CONVERSIONS)
def test_convert(source, target):
    values = [-np.inf, -1e10, -32769, -300, -128.5, -2.5, -0.5, 0.5, 1.5, 127.5, 300, 65536, 3e9, np.inf, np.nan]
    if np.dtype(source).kind in "ib":
        values = [-(2**31), -32769, -129, -1, 0, 1, 127, 128, 32768, 2**31 - 1]
    x, element = np.array(values).astype(source), storage(target)
    agree([x], lambda x: torq_hl.convert(x, element_type=element()))


@pytest.mark.parametrize("dynamic", [False, True])
def test_table(dynamic):
    generator = np.random.default_rng(0)
    words = (generator.integers(-128, 128, 256).astype(np.int16) << 8).astype(np.int32) & 0xFFFF
    words[:16] += np.arange(16)  # bits below the value
    x, scale_bias = np.arange(-128, 128, dtype=np.int8).reshape(4, 64), np.array([-128, 128], np.int32)
    if dynamic:
        agree([x, words], lambda x, words: torq_hl.table(constant(scale_bias), x, words))
    else:
        agree([x], lambda x: torq_hl.table(constant(scale_bias), x, static_table=words.tolist()))


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("source", [np.int8, np.int16])
def test_table_of_i16(source, dynamic):
    generator = np.random.default_rng(0)
    words = generator.integers(-(2**31), 2**31, 256).astype(np.int32)
    if source == np.int8:
        words &= 0xFFFF
        x, scale_bias = np.arange(-128, 128, dtype=np.int8), np.array([-128, 128], np.int32)
    else:
        x, scale_bias = np.arange(-(2**15), 2**15, 7).astype(np.int16), np.array([-32768, 1], np.int32)
    i16 = storage(np.int16)
    if dynamic:
        agree([x, words], lambda x, words: torq_hl.table(constant(scale_bias), x, words, element_type=i16()))
    else:
        static = words.tolist()
        agree([x], lambda x: torq_hl.table(constant(scale_bias), x, static_table=static, element_type=i16()))


INTEGER_OPERATIONS = [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14]


@pytest.mark.parametrize("is_unsigned", [False, True])
@pytest.mark.parametrize(
    ("op_type", "dtype"),
    [  # i1 has no arithmetic
        *((operation, np.bool_) for operation in INTEGER_OPERATIONS if operation < 13),
        *((operation, dtype) for operation in INTEGER_OPERATIONS for dtype in (np.int8, np.int32)),
    ],
)
def test_elementwisebinary_of_integers(op_type, dtype, is_unsigned):
    values = np.array([-(2**31), -128, -2, -1, 0, 1, 2, 127, 2**31 - 1]).astype(dtype)
    boolean = 6 <= op_type <= 11
    element = storage(np.bool_ if boolean else dtype)
    agree(
        [values[:, None], values],
        lambda x1, x2: torq_hl.elementwisebinary(
            x1, x2, op_type=op_type, is_unsigned=is_unsigned, element_type=element()
        ),
    )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op_type", [operation for operation in INTEGER_OPERATIONS if operation > 2])
def test_elementwisebinary_of_floats(op_type, dtype):
    values = np.array([-np.inf, -3.3e38, -1.5, 0.0, 1e-40, 1.0078125, 3.0, np.inf, np.nan]).astype(dtype)
    element = storage(np.bool_ if 6 <= op_type <= 11 else dtype)
    agree(
        [values[:, None], values],
        lambda x1, x2: torq_hl.elementwisebinary(x1, x2, op_type=op_type, element_type=element()),
    )


@few
@given(data=st.data())
def test_maxpool2d(data):
    kernel, stride, _, pad, size = data.draw(windows(2))
    size = [max(extent, window) for extent, window in zip(size, kernel, strict=True)]
    x = data.draw(integers(np.int8, [data.draw(st.integers(1, 2)), data.draw(st.integers(1, 3)), *size]))
    bounds = data.draw(st.sampled_from([(-128, 127), (-5, 127), (-128, 3), (-7, 7)]))
    attributes = {"kernel": kernel, "stride": stride, "pad": pad, "output_min": bounds[0], "output_max": bounds[1]}
    weights, scale_bias = np.array([1], np.int8), np.array([0, 1], np.int32)
    agree([x], lambda x: torq_hl.maxpool2d(constant(weights), constant(scale_bias), x, input_zp=-128, **attributes))


@pytest.mark.parametrize("builder", [torq_hl.avg_pool2d, torq_hl.reduce_mean])
@few
@given(data=st.data())
def test_mean(builder, data):
    x = data.draw(integers(data.draw(st.sampled_from([np.int8, np.int16])), [2, 3, 4, data.draw(st.integers(1, 9))]))
    weights, scale_bias = np.array([1], np.int8), data.draw(pairs(1))
    attributes, element = data.draw(outputs()) | {"input_zp": 3}, storage(np.int8)
    agree([x], lambda x: builder(constant(weights), constant(scale_bias), x, element_type=element(), **attributes))


@pytest.mark.parametrize("dtype", CONVERSIONS)
def test_data_movement(dtype):
    x = np.random.default_rng(0).integers(0, 100, (2, 3, 4)).astype(dtype)

    def body(x):
        wide = tensor.empty([2, 5, 3, 4, 2], x.type.element_type)
        return [
            torq_hl.identity(x),
            torq_hl.transpose(x, perm=[2, 0, 1]),
            torq_hl.broadcast(x, dimensions=[1, 4], init=wide),
        ]

    agree([x], body)


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"weight_zp": 2}, "weight_zp is 2"),
        ({"segment_output": True}, "segment_output is True"),
    ],
)
def test_attribute_without_meaning_is_refused(attributes, reason):
    x, w, scale_bias = np.zeros((1, 1, 4, 4), np.int8), np.zeros((1, 1, 1, 1), np.int8), np.zeros(2, np.int32)
    attributes |= {"output_zp": 0, "output_min": -128, "output_max": 127, "shift_factor": 0, "input_zp": 0}
    attributes |= {"pad": [0] * 4, "stride": [1, 1], "dilation": [1, 1]}
    module = module_of([x], lambda x: torq_hl.conv2d(constant(w), constant(scale_bias), x, **attributes))
    with pytest.raises(CompileError, match=f"'torq_hl.conv2d' op is not lowered to linalg: {reason}"):
        jit.compile(module)


@few
@given(st.data(), st.sampled_from([np.int32, np.int64]))
def test_gather(data, dtype):
    values = data.draw(integers(np.int8, (3, 2, 4)))
    indices = data.draw(hnp.arrays(dtype, (2, 3), elements=st.integers(-7, 7)))
    agree([values, indices], torq_hl.gather)


def test_gather_at_the_limits_of_the_index_type():
    for dtype in (np.int32, np.int64):
        limits = np.iinfo(dtype)
        indices = np.array([limits.min, limits.max, -4, -3, 2, 3], dtype)
        agree([np.array([10, 20, 30], np.int8), indices], torq_hl.gather)


@few
@given(integers(np.int8, (2, 3, 2, 5)), st.sampled_from([1, 2, 3]))
def test_resize_nearest_neighbor(x, factor):
    agree([x], lambda value: torq_hl.resize_nearest_neighbor(value, scale_factor=factor))


@few
@given(integers(np.int8, (2, 12, 2, 3)), st.sampled_from([1, 2]), st.sampled_from([0, 1]))
def test_depth_to_space(x, block, mode):
    one = np.ones(1, np.int8)
    agree([x], lambda value: torq_hl.depth_to_space(constant(one), value, blockSize=block, mode_type=mode))


@few
@given(data=st.data())
def test_reduce(data):
    dtype = data.draw(st.sampled_from([np.int8, np.int16]))
    x = data.draw(integers(dtype, data.draw(hnp.array_shapes(max_side=5, min_side=1))))
    name = data.draw(st.sampled_from(["reduce_sum", "reduce_max", "reduce_min"]))
    axis = data.draw(st.integers(0, x.ndim - 1))
    scale_bias, attributes = data.draw(pairs(1)), data.draw(outputs())
    element = storage(np.int8)
    agree(
        [x],
        lambda x: torq_hl.reduce(
            constant(np.int8([1])),
            constant(scale_bias),
            x,
            name=name,
            axis=axis,
            element_type=element(),
            **attributes,
        ),
    )


@few
@given(data=st.data())
def test_argmax(data):
    dtype = data.draw(st.sampled_from([np.int8, np.int16, np.int32]))
    limits = np.iinfo(dtype)
    values = st.sampled_from([limits.min, limits.min + 1, 0, limits.max])
    x = data.draw(hnp.arrays(dtype, hnp.array_shapes(max_side=5), elements=values))
    axis = data.draw(st.integers(0, x.ndim - 1))
    agree([x], lambda x: torq_hl.argmax(constant(np.int32([0, 1])), x, axis=axis))


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.bool_])
def test_select(dtype):
    rng = np.random.default_rng(0)
    condition = rng.integers(0, 2, (2, 1, 4)).astype(np.bool_)
    x, y = rng.integers(-100, 100, (3, 1)).astype(dtype), rng.integers(-100, 100, (2, 3, 4)).astype(dtype)
    agree([condition, x, y], torq_hl.select)

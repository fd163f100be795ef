# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of one or two quantized operators of ONNX and ONNX Runtime, written down; `OPERATORS` has them by name."""

import functools
from collections.abc import Callable, Mapping

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from e2e.models.network import seed_of

OPERATORS: dict[str, Callable[[], onnx.ModelProto]] = {}

_CONTRIB = "com.microsoft"
_TYPES = {
    "f32": TensorProto.FLOAT,
    "f16": TensorProto.FLOAT16,
    "i8": TensorProto.INT8,
    "u8": TensorProto.UINT8,
    "i16": TensorProto.INT16,
    "i32": TensorProto.INT32,
}

Constants = Mapping[str, np.ndarray | onnx.TensorProto]


def _operator(function: Callable[[], onnx.ModelProto], name: str | None = None) -> Callable[[], onnx.ModelProto]:
    OPERATORS[name or function.__name__.strip("_")] = function
    return function


def _model(
    nodes: list[onnx.NodeProto], inputs: Mapping[str, tuple], constants: Constants, outputs: str = "y:f32"
) -> onnx.ModelProto:
    """A model of unnamed nodes. Inputs have a type and a shape, `outputs` a type each."""
    protos = [
        _renamed(value, name) if isinstance(value, onnx.TensorProto) else numpy_helper.from_array(value, name)
        for name, value in constants.items()
    ]
    results = [output.split(":") for output in outputs.split()]
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info(name, _TYPES[kind], shape) for name, (kind, *shape) in inputs.items()],
        [helper.make_tensor_value_info(name, _TYPES[kind], None) for name, kind in results],
        protos,
    )
    imports = [helper.make_opsetid("", 21), helper.make_opsetid(_CONTRIB, 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def _renamed(tensor: onnx.TensorProto, name: str) -> onnx.TensorProto:
    tensor.name = name
    return tensor


def _random(name: str, dtype: type, *shape: int) -> np.ndarray:
    rng = np.random.default_rng(seed_of(name))
    if np.dtype(dtype).kind == "f":
        return rng.uniform(0.01, 0.1, shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def _node(op_type: str, inputs: str, outputs: str = "y", **attributes: object) -> onnx.NodeProto:
    """A node; "-" stands for an input that is left out."""
    names = ["" if name == "-" else name for name in inputs.split()]
    return helper.make_node(op_type, names, outputs.split(), **attributes)


def _matmul_integer(kinds: str, zero_points: tuple[int, ...] | None, columns: tuple[int, ...] | None) -> None:
    """Zero points are inputs of the model; None for one that is left out."""

    def build() -> onnx.ModelProto:
        left, right = kinds.split("_")
        inputs = {"a": (left, 2, 5, 7), "b": (right, 2, 7, 4)}
        names = "a b"
        for name, kind, shape in (("za", left, zero_points), ("zb", right, columns)):
            names += f" {name if shape is not None else '-'}"
            if shape is not None:
                inputs[name] = (kind, *shape)
        return _model([_node("MatMulInteger", names)], inputs, {}, "y:i32")

    def name(shape: tuple[int, ...] | None) -> str:
        return "none" if shape is None else "x".join(map(str, shape)) or "scalar"

    _operator(build, f"matmul_integer.{kinds}.{name(zero_points)}.{name(columns)}")


_matmul_integer("u8_i8", None, None)
_matmul_integer("u8_u8", (), None)
_matmul_integer("u8_i8", None, (1,))
_matmul_integer("i8_i8", (1,), ())
_matmul_integer("u8_i8", (), (2, 1, 4))


@_operator
def matmul_integer_columns() -> onnx.ModelProto:
    """A zero point for each column, and weights that are constant."""
    constants = {"b": _random("b", np.int8, 7, 4), "za": np.uint8(9), "zb": _random("zb", np.int8, 4)}
    return _model([_node("MatMulInteger", "a b za zb")], {"a": ("u8", 3, 7)}, constants, "y:i32")


@_operator
def matmul_integer_long() -> onnx.ModelProto:
    """Sums beyond 2^24, where f32 has gaps."""
    constants = {"b": np.full((2053, 3), 127, np.int8), "za": np.uint8(0)}
    return _model([_node("MatMulInteger", "a b za")], {"a": ("u8", 4, 2053)}, constants, "y:i32")


@_operator
def conv_integer() -> onnx.ModelProto:
    """Padding is with the zero point."""
    node = _node("ConvInteger", "x w zx zw", pads=[1, 1, 1, 1], strides=[2, 1], kernel_shape=[3, 3])
    constants = {"w": _random("w", np.uint8, 6, 4, 3, 3), "zx": np.uint8(131), "zw": np.uint8(120)}
    return _model([node], {"x": ("u8", 2, 4, 7, 6)}, constants, "y:i32")


@_operator
def conv_integer_groups() -> onnx.ModelProto:
    node = _node("ConvInteger", "x w zx", group=2, auto_pad="SAME_UPPER")
    constants = {"w": _random("w", np.uint8, 6, 2, 3, 3), "zx": np.uint8(3)}
    return _model([node], {"x": ("u8", 1, 4, 7, 6)}, constants, "y:i32")


@_operator
def dynamic_quantize_linear() -> onnx.ModelProto:
    return _model([_node("DynamicQuantizeLinear", "x", "y s z")], {"x": ("f32", 3, 50)}, {}, "y:u8 s:f32 z:u8")


@_operator
def dynamic_quantize_linear_of_zeros() -> onnx.ModelProto:
    """The scale is 1 then, as in ONNX Runtime."""
    nodes = [_node("Mul", "x zero", "zeros"), _node("DynamicQuantizeLinear", "zeros", "y s z")]
    return _model(nodes, {"x": ("f32", 3, 5)}, {"zero": np.float32(0)}, "y:u8 s:f32 z:u8")


@_operator
def dynamically_quantized_matmul() -> onnx.ModelProto:
    """What the dynamic quantization of ONNX Runtime makes of MatMul."""
    nodes = [
        _node("DynamicQuantizeLinear", "x", "q s z"),
        _node("MatMulInteger", "q b z zb", "i"),
        _node("Cast", "i", "f", to=TensorProto.FLOAT),
        _node("Mul", "s sb", "scale"),
        _node("Mul", "f scale"),
    ]
    constants = {"b": _random("b", np.int8, 8, 5), "zb": np.int8(0), "sb": np.float32(0.02)}
    return _model(nodes, {"x": ("f32", 2, 3, 8)}, constants)


@_operator
def dynamic_quantize_matmul() -> onnx.ModelProto:
    constants = {
        "b": _random("b", np.int8, 8, 5),
        "sb": _random("sb", np.float32, 5),
        "zb": _random("zb", np.int8, 5),
        "bias": _random("bias", np.float32, 5),
    }
    node = _node("DynamicQuantizeMatMul", "x b sb zb bias", domain=_CONTRIB)
    return _model([node], {"x": ("f32", 3, 8)}, constants)


@_operator
def matmul_integer_to_float() -> onnx.ModelProto:
    constants = {
        "b": _random("b", np.uint8, 8, 5),
        "sa": np.float32(0.03),
        "sb": _random("sb", np.float32, 5),
        "za": np.uint8(7),
        "zb": _random("zb", np.uint8, 5),
    }
    node = _node("MatMulIntegerToFloat", "a b sa sb za zb", domain=_CONTRIB)
    return _model([node], {"a": ("u8", 2, 3, 8)}, constants)


def _matmul_nbits(bits: int, depth: int, zero_points: str, bias: bool = False) -> None:
    def build() -> onnx.ModelProto:
        columns, block = 6, 16
        groups = -(-depth // block)
        packed = -(-groups * bits // 8)
        constants: dict[str, np.ndarray] = {
            "b": _random("b", np.uint8, columns, groups, block * bits // 8),
            "s": _random("s", np.float32, columns * groups),
        }
        if zero_points == "packed":
            constants["z"] = _random("z", np.uint8, columns * packed)
        elif zero_points == "float":
            constants["z"] = _random("z", np.float32, columns * groups) * 100
        names = f"a b s {'z' if zero_points else '-'}"
        if bias:
            constants["bias"] = _random("bias", np.float32, columns)
            names += " - bias"
        attributes = {"K": depth, "N": columns, "bits": bits, "block_size": block}
        node = _node("MatMulNBits", names, domain=_CONTRIB, **attributes)
        return _model([node], {"a": ("f32", 2, 3, depth)}, constants)

    _operator(build, f"matmul_{bits}bits.{depth}.{zero_points or 'symmetric'}{'.bias' if bias else ''}")


_matmul_nbits(4, 32, "")
_matmul_nbits(4, 48, "packed")
_matmul_nbits(4, 40, "packed", bias=True)
_matmul_nbits(4, 32, "float")
_matmul_nbits(8, 32, "packed")


@_operator
def blocked_int4_weights() -> onnx.ModelProto:
    """Weights `[K, N]` of four bits, in blocks along K, as the block-wise quantization of ONNX Runtime writes them."""
    values = _random("w", np.int8, 32, 6) >> 4
    constants = {
        "w": helper.make_tensor("w", TensorProto.INT4, values.shape, values.flatten()),
        "s": _random("s", np.float32, 2, 6),
    }
    nodes = [_node("DequantizeLinear", "w s", "f", axis=0, block_size=16), _node("MatMul", "x f")]
    return _model(nodes, {"x": ("f32", 3, 32)}, constants)


@_operator
def quantize_run_time_parameters() -> onnx.ModelProto:
    inputs = {"x": ("f32", 2, 3, 4), "s": ("f32", 3), "z": ("i8", 3)}
    nodes = [
        _node("Abs", "s", "positive"),
        _node("QuantizeLinear", "x positive z", "q", axis=-2),
        _node("DequantizeLinear", "q positive z", "d", axis=-2),
        _node("Identity", "q", "y"),
    ]
    return _model(nodes, inputs, {}, "d:f32 y:i8")


@_operator
def quantize_half() -> onnx.ModelProto:
    constants = {"s": np.float16(0.03), "z": np.uint8(100)}
    nodes = [_node("QuantizeLinear", "x s z", "q"), _node("DequantizeLinear", "q s z")]
    return _model(nodes, {"x": ("f16", 5, 9)}, constants, "y:f16")


@_operator
def quantize_output_dtype() -> onnx.ModelProto:
    """Without a zero point, the attribute gives the type."""
    node = _node("QuantizeLinear", "x s", output_dtype=TensorProto.INT16)
    return _model([node], {"x": ("f32", 5, 9)}, {"s": np.float32(1e-4)}, "y:i16")


@_operator
def qlinear_where() -> onnx.ModelProto:
    constants = {"s1": np.float32(0.05), "s2": np.float32(0.1), "s3": np.float32(0.08)}
    constants |= {"z1": np.uint8(3), "z2": np.uint8(130), "z3": np.uint8(77), "limit": np.uint8(128)}
    nodes = [
        _node("Greater", "a limit", "condition"),
        _node("QLinearWhere", "condition a s1 z1 b s2 z2 s3 z3", domain=_CONTRIB),
    ]
    return _model(nodes, {"a": ("u8", 3, 5), "b": ("u8", 1, 5)}, constants, "y:u8")


@_operator
def qlinear_conv_channels() -> onnx.ModelProto:
    """uint8 activations with int8 weights; the scale of the bias is that of the input times that of the channel."""
    constants = {"sx": np.float32(0.02), "zx": np.uint8(120), "sy": np.array([0.4], np.float32), "zy": np.uint8(90)}
    constants |= {
        "w": _random("w", np.int8, 6, 4, 3, 3),
        "sw": _random("sw", np.float32, 6),
        "zw": np.zeros(6, np.int8),
    }
    constants["b"] = _random("b", np.int16, 6).astype(np.int32)
    return _model([_node("QLinearConv", "x sx zx w sw zw sy zy b")], {"x": ("u8", 1, 4, 6, 6)}, constants, "y:u8")


@_operator
def shared_transposed_weights() -> onnx.ModelProto:
    """Weights along axis 1, read by two nodes, one of which transposes them."""
    constants = {"w": _random("w", np.int8, 8, 8), "s": _random("s", np.float32, 8), "z": np.zeros(8, np.int8)}
    nodes = [
        _node("DequantizeLinear", "w s z", "f", axis=1),
        _node("Gemm", "x f", "g", transB=1),
        _node("MatMul", "g f"),
    ]
    return _model(nodes, {"x": ("f32", 3, 8)}, constants)


@_operator
def transposed_convolution_weights() -> onnx.ModelProto:
    """The output channels of ConvTranspose are those of axis 1."""
    constants = {"w": _random("w", np.int8, 4, 6, 2, 2), "s": _random("s", np.float32, 6)}
    nodes = [_node("DequantizeLinear", "w s", "f", axis=-3), _node("ConvTranspose", "x f", strides=[2, 2])]
    return _model(nodes, {"x": ("f32", 1, 4, 3, 3)}, constants)


@_operator
def constants_that_are_inputs() -> onnx.ModelProto:
    """Initializers listed among the inputs, whose values they are by default."""
    constants = {"s": np.array([0.05], np.float32), "z": np.array([7], np.uint8)}
    nodes = [_node("QuantizeLinear", "x s z", "q"), _node("DequantizeLinear", "q s z")]
    model = _model(nodes, {"x": ("f32", 3, 8)}, constants)
    values = [helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in model.graph.initializer]
    model.graph.input.extend(values)
    return model


@functools.cache
def operator_model(name: str) -> onnx.ModelProto:
    """The model of that name, each built once."""
    return OPERATORS[name]()

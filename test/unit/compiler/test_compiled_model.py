# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import numpy as np
import onnx
import pytest
from small_models import ORACLE, X_SCALE, Y_SCALE, quantized_conv, reference

import torq_mlir
from torq_mlir import CompiledModel, CompileError, InputError
from torq_mlir.compiler import BACKENDS, LEVELS


@pytest.fixture(scope="module")
def compiled():
    return torq_mlir.compile(quantized_conv(), batch=1)


@pytest.fixture(scope="module")
def image():
    return np.random.default_rng(1).uniform(-4, 4, (1, 3, 6, 6)).astype(np.float32)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", sorted(path.stem for path in ORACLE.glob("*.onnx")))
def test_computes_what_the_npu_computes(name, backend):
    data = np.load(ORACLE / "oracle.npz")
    compiled = torq_mlir.compile(ORACLE / f"{name}.onnx", backend=backend)
    (result,) = compiled(**{info.name: data[f"{name}/{info.name}"] for info in compiled.inputs})
    np.testing.assert_array_equal(result, data[f"{name}/npu"])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_full_integer_is_within_one_step_of_onnxruntime(dtype, backend):
    model = quantized_conv(dtype, (2, 3, 6, 6), full_integer=True)
    limits = np.iinfo(dtype)
    x = np.random.default_rng(2).integers(limits.min, limits.max, (2, 3, 6, 6), dtype, endpoint=True)
    (result,) = torq_mlir.compile(model, backend=backend)(x)
    (expected,) = reference(model, {"x_quantized": x})
    assert result.dtype == expected.dtype
    assert np.abs(result.astype(int) - expected.astype(int)).max() <= 1
    assert result.min() == {"int8": 7, "uint8": 135}[dtype]  # relu: the zero point is the least value


def test_describes_float_inputs_and_outputs(compiled):
    (x,), (y,) = compiled.inputs, compiled.outputs
    assert (x.name, x.shape, x.dtype, x.scale, x.zero_point) == ("x", (1, 3, 6, 6), np.float32, None, None)
    assert (y.name, y.shape, y.dtype, y.scale, y.zero_point) == ("y", (1, 8, 6, 6), np.float32, None, None)


def test_describes_quantized_inputs_and_outputs():
    compiled = torq_mlir.compile(quantized_conv("uint8", full_integer=True), batch=1)
    (x,), (y,) = compiled.inputs, compiled.outputs
    assert (x.name, x.dtype, x.scale, x.zero_point) == ("x_quantized", np.uint8, np.float32(X_SCALE), 125)
    assert (y.name, y.dtype, y.scale, y.zero_point) == ("y_quantized", np.uint8, np.float32(Y_SCALE), 135)


def test_takes_a_path_bytes_or_a_proto(tmp_path, compiled, image):
    model = quantized_conv(shape=(1, 3, 6, 6))
    before = model.SerializeToString()
    onnx.save(model, tmp_path / "model.onnx")
    (expected,) = compiled(image)
    for source in (tmp_path / "model.onnx", str(tmp_path / "model.onnx"), before, model):
        np.testing.assert_array_equal(torq_mlir.compile(source)(image)[0], expected)
    assert model.SerializeToString() == before


def test_takes_inputs_by_position_by_name_and_as_onnxruntime(compiled, image):
    (expected,) = compiled(image)
    np.testing.assert_array_equal(compiled(x=image)[0], expected)
    np.testing.assert_array_equal(compiled.run(None, {"x": image})[0], expected)
    np.testing.assert_array_equal(compiled.run(["y"], {"x": image})[0], expected)


def test_mixes_positions_and_names():
    data = np.load(ORACLE / "oracle.npz")
    compiled = torq_mlir.compile(ORACLE / "add_diff_scales.onnx")
    first, second = (data[f"add_diff_scales/{info.name}"] for info in compiled.inputs)
    np.testing.assert_array_equal(compiled(first, x1=second)[0], compiled(first, second)[0])
    with pytest.raises(InputError, match="input 'x0' was passed twice"):
        compiled(first, x0=second)


@pytest.mark.parametrize(
    ("arrays", "named", "message"),
    [
        ((), {}, "no array was passed for input 'x'"),
        ((1, 2), {}, "the model has 1 input, but 2 arrays were passed"),
        ((), {"z": 1}, "the model has no input 'z'; its inputs are 'x'"),
        ((np.zeros((1, 3, 6, 7), np.float32),), {}, "input 'x' has shape 1x3x6x6, but the array has 1x3x6x7"),
        ((np.zeros((3, 6, 6), np.float32),), {}, "input 'x' has shape 1x3x6x6, but the array has 3x6x6"),
        ((np.zeros((1, 3, 6, 6)),), {}, "input 'x' has dtype float32, but the array has float64"),
    ],
)
def test_refuses_wrong_inputs(compiled, arrays, named, message):
    with pytest.raises(InputError) as error:
        compiled(*arrays, **named)
    assert str(error.value) == message
    assert isinstance(error.value, ValueError)


def test_refuses_the_other_sign():
    compiled = torq_mlir.compile(quantized_conv("uint8", (1, 3, 6, 6), full_integer=True))
    with pytest.raises(InputError, match="input 'x_quantized' has dtype uint8, but the array has int8"):
        compiled(np.zeros((1, 3, 6, 6), np.int8))


def test_refuses_an_unknown_output(compiled, image):
    with pytest.raises(InputError, match="the model has no output 'z'; its outputs are 'y'"):
        compiled.run(["z"], {"x": image})


def test_takes_arrays_of_any_layout(compiled, image):
    (expected,) = compiled(image)
    np.testing.assert_array_equal(compiled(np.asfortranarray(image))[0], expected)
    np.testing.assert_array_equal(compiled(np.repeat(image, 2, axis=3)[..., ::2])[0], expected)


def test_results_do_not_change_with_the_next_call(compiled, image):
    (first,) = compiled(image)
    copy = first.copy()
    compiled(-image)
    np.testing.assert_array_equal(first, copy)


def test_input_shapes(image):
    compiled = torq_mlir.compile(quantized_conv(), input_shapes={"x": (2, 3, 6, 6)})
    assert compiled.inputs[0].shape == (2, 3, 6, 6)
    (both,) = compiled(np.concatenate([image, -image]))
    (one,) = torq_mlir.compile(quantized_conv(), batch=1)(-image)
    np.testing.assert_array_equal(both[1:], one)


def test_backends_give_the_same_bits(compiled, image):
    interpreted = torq_mlir.compile(quantized_conv(), batch=1, backend="interpreter")
    np.testing.assert_array_equal(interpreted(image)[0], compiled(image)[0])


def test_refuses_an_unknown_backend(tmp_path):
    with pytest.raises(ValueError, match="no backend 'gpu'; the backends are cpu, jit, interpreter"):
        torq_mlir.compile(tmp_path / "is_not_read", backend="gpu")


def test_levels(compiled):
    texts = {level: compiled.mlir(level) for level in LEVELS}
    assert 'torch.operator "onnx.Conv"' in texts["onnx"]
    assert "torch.aten.convolution" in texts["torch"]
    assert "quantized_decomposed.dequantize_per_channel" in texts["torch"]
    assert "linalg.conv_2d_nchw_fchw" in texts["linalg"]
    assert "quantized_decomposed.quantize_per_tensor" in texts["linalg"]
    assert "!torch" not in texts["linalg"]
    assert '"torq_hl.conv2d"' in texts["torq-hl"]
    assert compiled.mlir() == texts["torq-hl"]
    with pytest.raises(ValueError, match="no level 'hlo'; the levels are onnx, torch, linalg, torq-hl"):
        compiled.mlir("hlo")


def test_elision_and_debug_info(compiled):
    assert "__elided__" in compiled.mlir(elide=True)
    assert "__elided__" not in compiled.mlir()
    assert 'loc("conv")' in compiled.mlir(debug_info=True)
    assert 'loc("conv")' not in compiled.mlir()


@pytest.mark.parametrize("suffix", [".mlir", ".mlirbc"])
def test_saves_and_loads(tmp_path, suffix):
    compiled = torq_mlir.compile(quantized_conv("uint8", (1, 3, 6, 6), full_integer=True))
    compiled.save(tmp_path / f"model{suffix}")
    loaded = CompiledModel.load(tmp_path / f"model{suffix}")
    assert (loaded.inputs, loaded.outputs) == (compiled.inputs, compiled.outputs)
    assert loaded.report() == compiled.report()
    x = np.random.default_rng(3).integers(0, 255, (1, 3, 6, 6), np.uint8)
    np.testing.assert_array_equal(loaded(x)[0], compiled(x)[0])
    loaded.save(tmp_path / f"again{suffix}")
    assert CompiledModel.load(tmp_path / f"again{suffix}").report() == compiled.report()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"again{suffix}", f"model{suffix}"]


def test_a_loaded_model_has_no_earlier_levels(tmp_path, compiled):
    compiled.save(tmp_path / "model.mlirbc")
    with pytest.raises(CompileError, match="a model loaded from torq_hl has no IR at level linalg"):
        CompiledModel.load(tmp_path / "model.mlirbc").mlir("linalg")


def test_loads_torq_hl_of_others(tmp_path):
    text = """
    func.func @forward(%x: tensor<2x2xi8>) -> tensor<2x2xi8> {
      %init = tensor.empty() : tensor<2x2xi8>
      %y = "torq_hl.transpose"(%init, %x) {perm = array<i64: 1, 0>} : (tensor<2x2xi8>, tensor<2x2xi8>) -> tensor<2x2xi8>
      return %y : tensor<2x2xi8>
    }"""
    (tmp_path / "other.mlir").write_text(text)
    loaded = CompiledModel.load(tmp_path / "other.mlir")
    assert [(info.name, info.dtype) for info in (*loaded.inputs, *loaded.outputs)] == [
        ("input0", np.int8),
        ("output0", np.int8),
    ]
    np.testing.assert_array_equal(loaded(np.array([[1, 2], [3, 4]], np.int8))[0], [[1, 3], [2, 4]])
    assert loaded.report().executors == {"nss": 1}


@pytest.mark.parametrize("content", [b"no IR\n", b"ML\xefRxx", b"module { func.func private @f() }"])
def test_refuses_to_load_what_is_not_torq_hl(tmp_path, content, capfd):
    (tmp_path / "broken.mlir").write_bytes(content)
    with pytest.raises(CompileError) as error:
        CompiledModel.load(tmp_path / "broken.mlir")
    assert "\n" not in str(error.value)
    assert capfd.readouterr().err == ""


def test_a_failed_save_leaves_the_file_as_it_was(tmp_path, compiled):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="Not a directory"):
        compiled.save(tmp_path / "file" / "model.mlir")
    assert (tmp_path / "file").read_text() == ""


def test_public_names():
    assert set(torq_mlir.__all__) <= set(dir(torq_mlir))
    for name in torq_mlir.__all__:
        assert getattr(torq_mlir, name) is not None
    assert torq_mlir.__version__ == torq_mlir.versions()["torq-mlir"]
    with pytest.raises(AttributeError, match="has no attribute 'decompile'"):
        _ = torq_mlir.decompile

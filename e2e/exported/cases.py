# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of exported programs, by name. PyTorch is imported when one runs, not to list them."""

import functools
from collections.abc import Callable, Iterator

from e2e.backends import Backend
from e2e.checks import Report

SAMPLES = 2

_CONVOLUTIONS = "conv_bn_relu conv_bn_relu6 conv1d grouped_conv residual_block depthwise_separable_block small_cnn"
_LINEAR = "mlp linear3d linear4d linear_no_bias"
_PRODUCTS = "matmul2d bmm matmul4d matmul_broadcast"
_TRANSFORMERS = "self_attention encoder_layer torch_encoder_layer"
_FEW = "conv_bn_relu residual_block small_cnn mlp encoder_layer"

# Recipes with constant parameters, and the models that they quantize.
STATIC = {
    "per-channel": f"{_CONVOLUTIONS} add_mul movements {_LINEAR} {_TRANSFORMERS}",
    "u8": f"{_CONVOLUTIONS} conv_transpose add_mul movements {_LINEAR} {_PRODUCTS} {_TRANSFORMERS}",
    "per-tensor": _FEW,
    "narrow": _FEW,
    "symmetric": f"{_FEW} bmm self_attention",
    "affine-weights": f"{_FEW} grouped_conv depthwise_separable_block linear3d",
    "u8-weights": f"{_FEW} grouped_conv conv_transpose bmm",
    "qat": "mlp conv1d conv_bn_relu residual_block small_cnn encoder_layer",
}
# Those that leave the last product in float, for a backend that fuses what follows.
PARTIAL = {"x86": f"small_cnn residual_block mlp {_TRANSFORMERS}", "x86-narrow": "small_cnn mlp encoder_layer"}
DYNAMIC = dict.fromkeys(("dynamic", "dynamic-u8"), f"mlp linear3d {_TRANSFORMERS}")
# Exported with a dynamic batch, and called with several.
DYNAMIC_BATCH = {"per-channel": "small_cnn mlp encoder_layer", "u8": "bmm", "dynamic": "mlp"}
BATCHES = (1, 2, 5)
DECODERS = ("decoder_step", "decoder_with_cache")
WEIGHT_RECIPES = (
    "tokens-int4-groups",
    "tokens-symmetric-int8-groups",
    "int4-affine-groups",
    "torchao-int8",
    "torchao-tokens-int8",
    "torchao-tokens-int4-groups",
    "torchao-int4-groups",
    "torchao-int4-affine-groups",
    "torchao-int3-channels",
)
OPERATORS = (
    "quantize_per_tensor quantize_per_tensor_narrow quantize_per_tensor_run_time quantize_per_tensor_run_time_range "
    "dequantize_per_tensor dequantize_per_tensor_run_time dequantize_per_tensor_run_time_range quantize_per_channel "
    "dequantize_per_channel fake_quant_per_channel quantize_per_token dequantize_per_token quantize_per_channel_group "
    "dequantize_per_channel_group choose_qparams choose_qparams_symmetric choose_qparams_per_token_asymmetric "
    "dynamic_quantization_per_tensor dynamic_quantization_per_token dynamic_quantization_per_token_asymmetric "
    "convert_element_type affine_per_tensor affine_per_tensor_symmetric affine_per_channel "
    "affine_per_channel_symmetric affine_per_token affine_per_token_symmetric affine_per_group "
    "affine_per_group_symmetric "
    "choose_qparams_affine_per_tensor_symmetric choose_qparams_affine_per_tensor_asymmetric "
    "choose_qparams_affine_per_tensor_symmetric_no_clipping_err choose_qparams_affine_per_token_symmetric "
    "choose_qparams_affine_per_token_asymmetric choose_qparams_affine_per_token_symmetric_no_clipping_err "
    "choose_qparams_affine_per_group_symmetric choose_qparams_affine_per_group_asymmetric "
    "choose_qparams_affine_per_group_symmetric_no_clipping_err"
)
# Training with folded batch normalization takes the better part of a minute to prepare.
_SLOW = frozenset({"conv_bn_relu.qat", "residual_block.qat", "small_cnn.qat"})
# What no recipe quantizes, and transposed convolutions, which torq_hl does not have.
_FLOAT_OPS = frozenset(
    {"aten.softmax", "aten.layer_norm", "aten.gelu", "aten.scaled_dot_product_attention", "aten.conv_transpose2d"}
)

Check = Callable[[Backend], Report]


def cases() -> Iterator[tuple[str, Check, bool]]:
    """Name and check of each case, and whether it is slow."""
    for recipe, models in STATIC.items():
        for model in models.split():
            yield from _case(f"{model}.{recipe}", functools.partial(_static, model, recipe))
    for recipe, models in (PARTIAL | DYNAMIC).items():
        for model in models.split():
            yield from _case(f"{model}.{recipe}", functools.partial(_quantized, model, recipe))
    for recipe, models in DYNAMIC_BATCH.items():
        for model in models.split():
            yield from _case(f"dynamic_batch.{model}.{recipe}", functools.partial(_dynamic_batch, model, recipe))
    for model in DECODERS:
        for recipe in WEIGHT_RECIPES:
            yield from _case(f"{model}.{recipe}", functools.partial(_with_weights, model, recipe))
    for name in OPERATORS.split():
        yield from _case(f"op.{name}", functools.partial(_operator, name))


def _case(name: str, check: Check) -> Iterator[tuple[str, Check, bool]]:
    yield f"pt2e.{name}", check, name in _SLOW


def _static(name: str, recipe: str, backend: Backend) -> Report:
    from e2e.exported.checks import check_static
    from e2e.models.pt2e import catalog

    model = catalog.MODELS[name]
    return check_static(catalog.quantized(name, recipe), catalog.samples(model, SAMPLES), _FLOAT_OPS, backend)


def _quantized(name: str, recipe: str, backend: Backend) -> Report:
    from e2e.exported.checks import check_outputs
    from e2e.models.pt2e import catalog

    model = catalog.MODELS[name]
    return check_outputs(catalog.quantized(name, recipe), catalog.samples(model, SAMPLES), backend)


def _dynamic_batch(name: str, recipe: str, backend: Backend) -> Report:
    from e2e.exported.checks import check_dynamic
    from e2e.models.pt2e import catalog

    calls = catalog.batches(catalog.MODELS[name], BATCHES)
    return check_dynamic(catalog.quantized(name, recipe, dynamic_batch=True), calls, backend)


def _with_weights(name: str, recipe: str, backend: Backend) -> Report:
    from e2e.exported.checks import check_outputs
    from e2e.models.pt2e import catalog

    model = catalog.MODELS[name]
    return check_outputs(catalog.with_weights(name, recipe), catalog.samples(model, SAMPLES), backend)


def _operator(name: str, backend: Backend) -> Report:
    from e2e.exported.checks import check_outputs
    from e2e.models.pt2e import catalog

    model = catalog.OPERATORS[name]
    return check_outputs(catalog.exported(model), catalog.samples(model, SAMPLES), backend, exactly=True)

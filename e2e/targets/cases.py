# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of TOSA and StableHLO, by name. PyTorch is imported when one runs, not to list them."""

import functools
from collections.abc import Callable, Iterator

from e2e.backends import Backend
from e2e.checks import Report
from e2e.targets.lowered import TARGETS

SAMPLES = 2

# Models by the recipe that quantizes them. What `make test` runs has every kind of contraction and of parameters once.
FAST = {
    "per-channel": "conv_bn_relu6 encoder_layer",
    "u8": "grouped_conv residual_block movements bmm",
    "affine-weights": "depthwise_separable_block mlp",
    "u8-weights": "conv_bn_relu conv_transpose",
    "dynamic-u8": "mlp",
}
MORE = {
    "per-channel": "conv_bn_relu conv1d small_cnn linear3d torch_encoder_layer",
    "per-tensor": "conv_bn_relu mlp",
    "narrow": "residual_block mlp",
    "symmetric": "small_cnn mlp bmm",
    "u8": "small_cnn add_mul linear4d linear_no_bias matmul2d matmul4d matmul_broadcast self_attention",
    "affine-weights": "conv_bn_relu grouped_conv residual_block linear3d",
    "u8-weights": "residual_block grouped_conv mlp bmm",
    "x86": "small_cnn mlp encoder_layer",
    "qat": "mlp conv1d",
    "dynamic": "mlp linear3d self_attention",
    "dynamic-u8": "encoder_layer",
}
# Linear layers with weights per group, which stay in float: the weights are packed until they are dequantized.
GROUPS = {
    "tokens-int4-groups": "decoder_step",
    "tokens-symmetric-int8-groups": "decoder_with_cache",
    "int4-affine-groups": "decoder_step",
    "torchao-tokens-int4-groups": "decoder_with_cache",
    "torchao-int4-affine-groups": "decoder_step",
    "torchao-int3-channels": "decoder_step",
    "torchao-int8": "decoder_step",
    "torchao-tokens-int8": "decoder_step",
}
# Those with a contraction of which one operand is not quantized.
PARTLY_FLOAT = ("encoder_layer.per-channel", "torch_encoder_layer.per-channel")
# Every operation of quantized_decomposed, and the affine operators that are raised to these.
OPERATORS = (
    "quantize_per_tensor quantize_per_tensor_narrow quantize_per_tensor_run_time quantize_per_tensor_run_time_range "
    "dequantize_per_tensor dequantize_per_tensor_run_time dequantize_per_tensor_run_time_range quantize_per_channel "
    "dequantize_per_channel fake_quant_per_channel quantize_per_token dequantize_per_token quantize_per_channel_group "
    "dequantize_per_channel_group choose_qparams choose_qparams_symmetric choose_qparams_per_token_asymmetric "
    "dynamic_quantization_per_tensor dynamic_quantization_per_token dynamic_quantization_per_token_asymmetric "
    "convert_element_type affine_per_tensor affine_per_channel affine_per_token affine_per_group"
)
ORACLE = "conv1x1_ties conv1x1_zp conv3x3_s2_sym conv3x3_same_zp conv3x3_wzp dw3x3_zp gemm_batch1"

Check = Callable[[Backend], Report]


def cases() -> Iterator[tuple[str, Check, bool]]:
    """Name and check of each case, and whether it is slow."""
    for target in TARGETS:
        for name in ORACLE.split():
            yield f"{target}.oracle.{name}", functools.partial(_oracle, name, target), False
        for name in OPERATORS.split():
            yield f"{target}.op.{name}", functools.partial(_operator, name, target), False
        for models, slow in ((FAST, False), (MORE, True)):
            for recipe, names in models.items():
                for name in names.split():
                    yield f"{target}.{name}.{recipe}", functools.partial(_program, name, recipe, target), slow
        for recipe, names in GROUPS.items():
            for name in names.split():
                yield f"{target}.{name}.{recipe}", functools.partial(_weights, name, recipe, target), True


def _program(name: str, recipe: str, target: str, backend: Backend) -> Report:
    from e2e.models.pt2e import catalog
    from e2e.targets.checks import check_program

    model = catalog.MODELS[name]
    program, stays_in_float = catalog.quantized(name, recipe), f"{name}.{recipe}" in PARTLY_FLOAT
    return check_program(program, catalog.samples(model, SAMPLES), target, stays_in_float)


def _weights(name: str, recipe: str, target: str, backend: Backend) -> Report:
    from e2e.models.pt2e import catalog
    from e2e.targets.checks import check_program

    model = catalog.MODELS[name]
    program = catalog.with_weights(name, recipe)
    return check_program(program, catalog.samples(model, SAMPLES), target, True)


def _operator(name: str, target: str, backend: Backend) -> Report:
    from e2e.models.pt2e import catalog
    from e2e.targets.checks import check_operator

    model = catalog.OPERATORS[name]
    return check_operator(catalog.exported(model), catalog.samples(model, SAMPLES), target)


def _oracle(name: str, target: str, backend: Backend) -> Report:
    from e2e.targets.checks import check_oracle

    return check_oracle(name, target)

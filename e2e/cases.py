# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The registry: every case by name."""

import dataclasses
import functools
import re
from collections.abc import Callable

from e2e import approximate, onnx_quant, oracle
from e2e.backends import Backend
from e2e.checks import Report, check_against_reference, check_same_operations
from e2e.exported import cases as exported_cases
from e2e.models.built import BUILT
from e2e.models.catalog import model_inputs, quantized_model
from e2e.models.features import FEATURES
from e2e.models.light import LIGHT
from e2e.models.onnx_operators import OPERATORS
from e2e.models.qdq_features import QDQ_FEATURES
from e2e.targets import cases as target_cases

FORMS = ("qdq-per-channel", "qoperator")
MAIN_VARIANTS = (*FORMS, "qdq-per-tensor", "qdq-u8", "full-integer")
# Variants that make a difference for a few kinds of layers only.
MORE_VARIANTS = {
    "qdq-symmetric": "conv_relu conv_relu6 conv_clip gemm_relu add_relu residual_block cnn_small",
    "qdq-fused-activations": "conv_relu conv_relu6 conv_clip gemm_relu add_relu residual_block cnn_small",
    "qdq-u8-weights": "conv_3x3 conv_1x1 conv_depthwise conv_groups4 gemm matmul matmul_bias cnn_small",
    "qdq-float-bias": "conv_3x3 conv_depthwise gemm cnn_small",
    "qoperator-u8": "conv_3x3 conv_depthwise gemm matmul add mul concat averagepool global_averagepool cnn_small",
    "full-integer-u8": "conv_3x3 gemm add concat maxpool_pads cnn_small cnn_softmax",
}
# Of the models whose operators have no QOperator form.
QDQ_VARIANTS = ("qdq-per-channel", "qdq-u8")
LIGHT_VARIANTS = {"resnet50": MAIN_VARIANTS, "squeezenet": MAIN_VARIANTS}
# What `make test` runs of them; of the small models it runs all.
FAST_LIGHT_VARIANTS = {"squeezenet": FORMS}
# Of the self-built networks, besides full-integer; and those of all that `make test` runs.
BUILT_VARIANTS = {
    "mobilenet_v2": ("qoperator",),
    "mobilenet_v3_small": ("full-integer-u8",),
    "unet": ("full-integer-u8",),
    "vit_tiny": ("qdq-symmetric",),
    "bert_tiny": ("full-integer-u8",),
}
FAST_BUILT = ("mobilenet_v2.full-integer", "bert_tiny.full-integer")
# Models whose forms are not the same network: the quantizer drops these activations in QOperator form alone, and gives
# an average pooling before a Concat the parameters of its input in QDQ form alone.
DIFFERENT_FORMS = ("relu", "clip", "densenet121")
# Of the small models, what every run takes. The other forms, and their comparison, are of the same layers, and run for
# some models.
FAST_VARIANTS = ("qdq-per-channel",)
ALL_VARIANTS_FAST = frozenset(
    {"conv_3x3", "conv_depthwise", "gemm", "add", "mul", "concat", "maxpool_pads", "averagepool_pads", "cnn_small"}
)
# Of the exported programs: a static and a dynamic recipe for each kind of model, each operator, and what is particular.
FAST_EXPORTED = (
    r"pt2e\.(op\..*|.*\.per-channel|(mlp|self_attention)\.dynamic|(small_cnn|mlp|bmm)\.u8|mlp\.(narrow|qat|x86)"
    r"|small_cnn\.(symmetric|affine-weights|u8-weights)|decoder_step\.(tokens-int4-groups|torchao-int8))"
)
SOFTMAX = frozenset({"Softmax", "QLinearSoftmax"})
# Local response normalization has no quantized form.
FLOAT_OPS = (
    {name: SOFTMAX | {"LRN"} for name in ("alexnet", "inception_v1", "zfnet512")}
    | {"arg_max": frozenset({"Cast"})}
    | {name: SOFTMAX | {"LayerNormalization"} for name in ("vit_tiny", "bert_tiny")}
)
# Of the other models it is reported where each node is computed, which takes as long again as to compile one.
SMALL = FEATURES.keys() | QDQ_FEATURES.keys()


@dataclasses.dataclass(frozen=True)
class Case:
    """A case of the registry.

    Attributes:
      check: runs the case.
      slow: not among those that `make test` runs.
    """

    name: str
    check: Callable[[Backend], Report]
    slow: bool = False


@functools.cache
def registry() -> dict[str, Case]:
    """All cases by name, the small ones first."""
    targets = [Case(*case) for case in target_cases.cases()]
    cases = [*_oracle_cases(), *_feature_cases(), *_onnx_cases(), *_exported_cases(), *targets]
    cases += [*(Case(*case) for case in approximate.cases()), *_built_cases(), *_light_cases()]
    return {case.name: case for case in cases}


def _model_case(name: str, variant: str, *, samples: int, slow: bool = False) -> Case:
    def check(backend: Backend) -> Report:
        model = quantized_model(name, variant)
        inputs, float_ops = model_inputs(model, name, samples), FLOAT_OPS.get(name, SOFTMAX)
        return check_against_reference(model, inputs, float_ops, backend, placement=name not in SMALL)

    return Case(f"{name}.{variant}", check, slow)


def _forms_case(name: str, *, slow: bool = False) -> Case:
    """The QDQ and the QOperator form of a model give the same operations."""

    def check(backend: Backend) -> Report:
        return check_same_operations({form: quantized_model(name, form) for form in FORMS})

    return Case(f"{name}.same-forms", check, slow)


def _feature_cases() -> list[Case]:
    cases = []
    for name in FEATURES:
        more = [variant for variant, names in MORE_VARIANTS.items() if name in names.split()]
        fast = (*MAIN_VARIANTS, *more) if name in ALL_VARIANTS_FAST else FAST_VARIANTS
        cases += [
            _model_case(name, variant, samples=2, slow=variant not in fast) for variant in (*MAIN_VARIANTS, *more)
        ]
        if name not in DIFFERENT_FORMS:
            cases.append(_forms_case(name, slow=name not in ALL_VARIANTS_FAST))
    cases += [
        _model_case(name, variant, samples=2, slow=variant not in FAST_VARIANTS)
        for name in QDQ_FEATURES
        for variant in QDQ_VARIANTS
    ]
    return cases


def _light_cases() -> list[Case]:
    cases = []
    for name in LIGHT:
        variants, fast = LIGHT_VARIANTS.get(name, (*FORMS, "full-integer")), FAST_LIGHT_VARIANTS.get(name, ())
        cases += [_model_case(name, variant, samples=1, slow=variant not in fast) for variant in variants]
        if name not in DIFFERENT_FORMS:
            cases.append(_forms_case(name, slow=not fast))
    return cases


def _built_cases() -> list[Case]:
    names = [(name, variant) for name in BUILT for variant in ("full-integer", *BUILT_VARIANTS.get(name, ()))]
    return [
        _model_case(name, variant, samples=4, slow=f"{name}.{variant}" not in FAST_BUILT) for name, variant in names
    ]


def _oracle_cases() -> list[Case]:
    return [Case(f"oracle.{name}", functools.partial(oracle.check, name)) for name in oracle.NAMES]


def _onnx_cases() -> list[Case]:
    operators = {f"onnx.quant.{name}": functools.partial(onnx_quant.check_operator, name) for name in OPERATORS}
    specified = {
        f"onnx.quant.specification.{name}": functools.partial(onnx_quant.check_specification, name)
        for name in onnx_quant.specification_cases()
    }
    return [Case(name, check) for name, check in (operators | specified).items()]


def _exported_cases() -> list[Case]:
    cases = exported_cases.cases()
    return [Case(name, check, slow or not re.fullmatch(FAST_EXPORTED, name)) for name, check, slow in cases]

# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports as a discovery leaves them: a small network with one layer of each kind, and one of any size."""

import math

from torq_mlir.gen_config.files import (
    EXECUTORS,
    Comparison,
    Distribution,
    ExecutorResult,
    FullModelRun,
    IrText,
    Layer,
    LayerSensitivity,
    Metrics,
    ModelInfo,
    Report,
    Sensitivity,
    Status,
    TensorInfo,
    Timing,
    Values,
)

FLAGS = {"quantize": True, "full-integer": True, "quant-format": "qdq", "skip-ops": ("Flatten",)}
EQUAL = Metrics(4096, 0, 0.0, 0.0, 127.0, math.inf, 1.0)
CLOSE = Metrics(4096, 3, 1.0, 1.0, 127.0, 58.25, 0.999999)
FAR = Metrics(4096, 1024, 5.0, 5.0, 127.0, 21.5, 0.98)


def result(metrics=EQUAL, *, seconds=None, **more):
    status = Status.SUCCESS if metrics is not FAR else Status.DIFFERENCE
    timing = None if seconds is None else Timing(5, seconds, seconds * 0.9)
    return ExecutorResult(status, metrics=metrics, timing=timing, **more)


def error(reason):
    return ExecutorResult(Status.ERROR, reason)


def layer(index, op_type, executors, **more):
    name = more.pop("name", f"{op_type}_{index}")
    recommended = more.pop("recommended_executor", next(iter(executors), None))
    tensors = {
        "inputs": (TensorInfo(f"t{index}", (1, 16, 32, 32), "int8"),),
        "outputs": (TensorInfo(f"t{index + 1}", (1, 16, 32, 32), "int8"),),
    }
    return Layer(name, op_type, index, name, recommended, executors=executors, **(tensors | more))


def everywhere(metrics=EQUAL, seconds=2e-4):
    return {name: result(metrics, seconds=seconds * (1 + place)) for place, name in enumerate(EXECUTORS)}


def values(output="t3"):
    reference = tuple(round(900 * math.exp(-((place - 16) ** 2) / 40)) for place in range(32))
    ours = tuple(count // 2 if place < 8 else count for place, count in enumerate(reference))
    return Values(output, -128, 127, Distribution(-110, 120, reference), Distribution(-104, 127, ours))


def cnn_report():
    """Seven operators: one of each status, a fused Relu, a duplicate, a layer that nothing takes, one set by hand."""
    before, after = IrText("func.func @main(%arg0: tensor<1x3x32x32xi8>)"), IrText('"torq_hl.conv2d"(%0) {pad = 1}')
    far = {
        "nss": result(FAR, seconds=1e-4, values=values(), ir=after),
        "css": result(CLOSE, seconds=3e-4),
        "host": error("linalg.generic: does not compile"),
    }
    conv = {**everywhere(), "nss": result(EQUAL, seconds=2e-4, ir=after)}
    nothing = {name: error("GlobalLpPool has no lowering to torch") for name in EXECUTORS}
    skipped = {"nss": result(CLOSE), "css": ExecutorResult(Status.SKIPPED, "nss has succeeded")}
    layers = (
        layer(0, "Conv", conv, mlir_location="12:5", ir=before),
        layer(1, "Relu", everywhere(), fused_into="Conv_0"),
        layer(2, "Conv", far, recommended_executor="css", mlir_location="30:5"),
        layer(3, "Relu", everywhere(), fused_into="Conv_2", duplicate_of="Relu_1"),
        layer(4, "GlobalLpPool", nothing, recommended_executor=None, mlir_location="41:5"),
        layer(5, "Flatten", skipped, mlir_location="44:5"),
        layer(6, "Gemm", everywhere(CLOSE), recommended_executor="host", edited=True, mlir_location="47:5"),
    )
    return Report(
        ModelInfo("cnn", "models/cnn.onnx", "0f" * 32),
        FLAGS,
        layers,
        hashes={"quantized_model": "1e" * 32, "quantized_mlir": "2d" * 32},
        versions={"torq-mlir": "0.1.0"},
        sensitivity=Sensitivity((LayerSensitivity("Gemm_6", 24.5), LayerSensitivity("Conv_0", 41.0)), ("Gemm_6",)),
        run=FullModelRun(
            Status.DIFFERENCE,
            outputs=(Comparison("logits", Status.DIFFERENCE, FAR, "Gemm_6"),),
            tensors=(Comparison("t1", Status.SUCCESS, EQUAL, "Conv_0"), Comparison("t3", Status.DIFFERENCE, FAR)),
            first_divergence="t3",
        ),
    )


def large_report(count):
    """`count` layers; each twentieth differs and has a histogram, and all have IR."""
    text = "\n".join(f"  %{line} = torch.aten.convolution %{line - 1} : !torch.vtensor" for line in range(1, 30))

    def one(index):
        executors = everywhere(CLOSE)
        if index % 20 == 0:
            executors["nss"] = result(FAR, seconds=1e-4, values=values(), ir=IrText(text))
        return layer(
            index, ("Conv", "Relu", "Add")[index % 3], executors, mlir_location=f"{index + 1}:5", ir=IrText(text)
        )

    return Report(ModelInfo("large", "large.onnx", "00" * 32), FLAGS, tuple(one(index) for index in range(count)))

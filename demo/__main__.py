# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The main path of torq-mlir on real data, from training to a comparison with ONNX Runtime."""

import time
from collections.abc import Callable

import numpy as np
import onnx
import onnxruntime

import torq_mlir
from demo import digits, quantization


def main() -> None:
    start = time.perf_counter()
    train, test = digits.load()
    _say(f"Training on {len(train.labels)} images of handwritten digits, 8x8 pixels")
    float_model = digits.to_onnx(digits.train(train))
    _say("Quantizing with ONNX Runtime: QDQ, i8, weights per channel, calibrated on the training images")
    quantized_model = quantization.quantize(float_model, train.images)

    _say("Compiling to torq_hl")
    begin = time.perf_counter()
    compiled = torq_mlir.compile(quantized_model)
    compile_seconds = time.perf_counter() - begin
    print(f"\n{compiled.mlir('torq-hl', elide=True)}\n{compiled.report()}\n")
    begin = time.perf_counter()
    compiled(test.images[:1])
    jit_seconds = time.perf_counter() - begin

    _say(f"Running the {len(test.labels)} test images on the host, one by one")
    runs = {
        "float, ONNX Runtime": _run(_session(float_model), test.images),
        "int8, ONNX Runtime": _run(_session(quantized_model), test.images),
        "int8, torq-mlir": _run(lambda image: compiled(image)[0], test.images),
    }
    print(f"\n{'':<22}{'accuracy':>10}{'correct':>12}{'per image':>12}")
    for name, (logits, seconds) in runs.items():
        correct = int((logits.argmax(1) == test.labels).sum())
        share, count = f"{correct / len(logits):.2%}", f"{correct} of {len(logits)}"
        print(f"{name:<22}{share:>10}{count:>12}{seconds / len(logits) * 1e6:>9.0f} us")
    print()
    print(
        _agreement(
            runs["int8, torq-mlir"][0], runs["int8, ONNX Runtime"][0], quantization.output_scale(quantized_model)
        )
    )
    print(f"Compilation: {compile_seconds:.2f} s, machine code: {jit_seconds:.2f} s.")
    print(f"Everything: {time.perf_counter() - start:.0f} s.")


def _session(model: onnx.ModelProto) -> Callable[[np.ndarray], np.ndarray]:
    """ONNX Runtime without graph optimizations, which change the results of quantized models."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda image: session.run(None, {"image": image})[0]


def _run(model: Callable[[np.ndarray], np.ndarray], images: np.ndarray) -> tuple[np.ndarray, float]:
    """The logits of each image, and seconds for all."""
    begin = time.perf_counter()
    logits = np.concatenate([model(image[np.newaxis]) for image in images])
    return logits, time.perf_counter() - begin


def _agreement(ours: np.ndarray, reference: np.ndarray, scale: float) -> str:
    steps = np.rint(np.abs(ours - reference) / scale).astype(np.int64)
    same = int((ours.argmax(1) == reference.argmax(1)).sum())
    by_one, by_more = int((steps == 1).sum()), int((steps > 1).sum())
    return (
        f"torq-mlir and ONNX Runtime, both int8: the same digit for {same} of {len(ours)} images.\n"
        f"Of {steps.size} logits {steps.size - by_one - by_more} are equal, {by_one} differ by one step of the "
        f"output's quantization, {by_more} by more."
    )


def _say(text: str) -> None:
    print(f"== {text}", flush=True)


if __name__ == "__main__":
    main()

# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a model that `torq-compile model.onnx -o model.vmfb` compiled. It needs numpy and IREE's runtime, nothing else.

python run_model.py model.vmfb inputs.npz outputs.npz
"""

import json
import sys

import iree.runtime
import numpy as np


def main(model: str, inputs: str, outputs: str) -> None:
    function = iree.runtime.load_vm_flatbuffer_file(model, driver="local-task").main
    described = function.vm_function.reflection
    takes, gives = (json.loads(described[f"torq_hl.{side}"]) for side in ("inputs", "outputs"))
    with np.load(inputs) as arrays:
        # IREE knows integers without a sign: those that have none are passed as they are in memory.
        results = function(*(_signed(arrays[each["name"]]) for each in takes))
    results = results if isinstance(results, tuple) else (results,)
    named = {each["name"]: result.to_host().view(each["dtype"]) for each, result in zip(gives, results, strict=True)}
    for name, array in named.items():
        print(f"{name}: {'x'.join(map(str, array.shape))} {array.dtype}")
    np.savez(outputs, **named)


def _signed(array: np.ndarray) -> np.ndarray:
    return array.view(f"int{8 * array.itemsize}") if array.dtype.kind == "u" else array


if __name__ == "__main__":
    main(*sys.argv[1:])

# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles quantized models to the Torq NPU dialect of MLIR and runs them on the host.

    import torq_mlir

    compiled = torq_mlir.compile("model.onnx")
    outputs = compiled(image)

What is exported here is imported when it is first used: `import torq_mlir` by itself loads nothing else.
"""

import importlib

_EXPORTS = {
    "CompileError": "errors",
    "CompiledModel": "compiler",
    "DynamicModel": "dynamic_model",
    "Execution": "executing",
    "InputError": "errors",
    "ModelError": "errors",
    "TorqError": "errors",
    "compile": "compiler",
}

__all__ = [
    "CompileError",
    "CompiledModel",
    "DynamicModel",
    "Execution",
    "InputError",
    "ModelError",
    "TorqError",
    "compile",
    "versions",
]


def versions() -> dict[str, str]:
    """Versions of this package and of those whose code decides what is compiled, by distribution name."""
    from importlib import metadata

    names = ("torq-mlir", "torch-mlir", "onnx", "onnxruntime", "numpy", "ml_dtypes")
    return {name: metadata.version(name) for name in names}


def __getattr__(name: str) -> object:
    if name == "__version__":
        return versions()["torq-mlir"]
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_EXPORTS[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})

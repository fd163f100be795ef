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
    "Deviation": "deviation",
    "DynamicModel": "dynamic_model",
    "Execution": "executing",
    "InputError": "errors",
    "MissingPackageError": "errors",
    "ModelError": "errors",
    "Profile": "backends.cpu",
    "Report": "report",
    "TensorInfo": "frontends.tensor_info",
    "TorqError": "errors",
    "UntestedVersionWarning": "errors",
    "compile": "compiler",
    "get_cmake_dir": "development",
    "get_include": "development",
    "torch_module": "pytorch",
    "versions": "environment",
}

__all__ = [
    "CompileError",
    "CompiledModel",
    "Deviation",
    "DynamicModel",
    "Execution",
    "InputError",
    "MissingPackageError",
    "ModelError",
    "Profile",
    "Report",
    "TensorInfo",
    "TorqError",
    "UntestedVersionWarning",
    "compile",
    "get_cmake_dir",
    "get_include",
    "torch_module",
    "versions",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib import metadata

        return metadata.version("torq-mlir")
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_EXPORTS[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})

# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which executor takes each layer of a model: discovery, the files that say so, and the full model run with them.

The functions are called as the commands of torq-gen-config are. They are imported when they are first used.
"""

import importlib

_EXPORTS = {
    "DiscoverOptions": "discovery",
    "ModelOptions": "options",
    "RunOptions": "running",
    "discover": "discovery",
    "edit": "editing",
    "quantize": "quantizing",
    "run": "running",
    "view": "viewing",
}

__all__ = ["DiscoverOptions", "ModelOptions", "RunOptions", "discover", "edit", "quantize", "run", "view"]


def __getattr__(name: str) -> object:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_EXPORTS[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

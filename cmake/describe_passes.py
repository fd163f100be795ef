# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Turns TableGen's record dump of pass declarations into JSON: a list of passes with their options."""

import argparse
import json
import re
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

_OPERATIONS = {"": "any", "ModuleOp": "builtin.module", "func::FuncOp": "func.func"}


def _operation(record: Mapping) -> str:
    """The name of the operation that the pass runs on, or "any"."""
    match = re.fullmatch(r"::mlir::OperationPass<(?:::)?(?:mlir::)?(.*)>", record["baseClass"])
    if match is None or match[1] not in _OPERATIONS:
        raise ValueError(f"pass {record['argument']}: no operation is known for {record['baseClass']}")
    return _OPERATIONS[match[1]]


def _option(record: Mapping) -> dict:
    return {
        "name": record["argument"],
        "variable": record["cppName"],
        "type": record["type"],
        "default": record.get("defaultValue"),
        "description": record["description"],
        "list": "ListOption" in record["!superclasses"],
    }


def _pass(record: Mapping, records: Mapping) -> dict:
    return {
        "name": record["argument"],
        "summary": record["summary"],
        "description": textwrap.dedent(record["description"] or "").strip(),
        "operation": _operation(record),
        "dependent_dialects": record["dependentDialects"],
        "options": [_option(records[option["def"]]) for option in record["options"]],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=Path, help="output of llvm-tblgen --dump-json")
    parser.add_argument("-o", dest="output", type=Path, required=True)
    arguments = parser.parse_args()
    records = json.loads(arguments.records.read_text())
    passes = [_pass(records[name], records) for name in records["!instanceof"].get("PassBase", ())]
    arguments.output.write_text(json.dumps(sorted(passes, key=lambda each: each["name"]), indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

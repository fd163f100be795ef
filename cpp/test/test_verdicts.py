# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Both torq-opt find the same faults in operations that were changed at random, and say the same about them."""

import random
import re
import subprocess
from pathlib import Path

MODULES = sorted((Path(__file__).parents[2] / "test" / "dialects").rglob("*ops.mlir"))
CHANGES = 600

_TYPE = re.compile(r"(?<!v)tensor<[^<>]*>")  # those of torch are verified by torch, where it is registered
_ATTRIBUTE = re.compile(r"(\w+) = (-?\d+ : i\d+|[sui]+\d+|array<i64: [-\d, ]+>|true|false|\"\w+\")(?=[,}])")
_SEPARATOR = "// -----\n"


def change_type(function, chooser):
    """Another shape or element type in place of one of the types, wherever it occurs."""
    old = chooser.choice(_TYPE.findall(function) or [None])
    if old is None:
        return change_attribute(function, chooser)
    parts = re.findall(r"\d+|\?|[a-z]+\d*|\W", old[old.index("<") + 1 : -1])
    index = chooser.randrange(len(parts))
    if parts[index].isdigit() or parts[index] == "?":
        parts[index] = chooser.choice(["1", "2", "3", "5", "8", "16"])
    elif re.fullmatch(r"x?[a-z]+\d+", parts[index]):
        prefix = "x" if parts[index].startswith("x") else ""
        parts[index] = prefix + chooser.choice(["i8", "i16", "i32", "i64", "f32", "bf16", "f64", "i1"])
    return function.replace(old, old[: old.index("<") + 1] + "".join(parts) + ">")


def change_attribute(function, chooser):
    """Another value of an attribute."""
    match = chooser.choice(list(_ATTRIBUTE.finditer(function)))
    values = ["0 : i32", "-7 : i32", "300 : i32", "2 : i64", "-129 : i64", "70000 : i64", "si8", "ui8", "si16", "true"]
    values += ["array<i64: 1, 1>", "array<i64: 0, 1, 2, 3>", "array<i64: -1>", '"add"', '"clamp"', "40 : i8", "unit"]
    number = re.fullmatch(r"-?\d+ : (i\d+)", match[2])
    if number and chooser.random() < 0.7:  # of the same type
        values = [f"{value} : {number[1]}" for value in (0, 1, 2, 3, 14, -1, -128, 127, -129, 128)]
    return function[: match.start(2)] + chooser.choice(values) + function[match.end(2) :]


def drop_attribute(function, chooser):
    match = chooser.choice(list(_ATTRIBUTE.finditer(function)))
    return (function[: match.start()] + function[match.end() :]).replace("{, ", "{").replace(", , ", ", ")


def add_attribute(function, chooser):
    names = ["torq.note", "torq-executor", "divide", "nhwc_input", "range", "groups", "note"]
    position = function.index("{", function.index('= "')) + 1
    return f"{function[:position]}{chooser.choice(names)} = true, {function[position:]}"


def changed_functions(chooser):
    """Functions of the tests with one change each, and one operation that the change is to."""
    functions = [
        function
        for path in MODULES
        for function in re.findall(r"^func\.func @.*?^}$", path.read_text(), re.MULTILINE | re.DOTALL)
        if len(re.findall(r'= "(?:torq_hl|quantized_decomposed)\.', function)) == 1 and _ATTRIBUTE.search(function)
    ]
    changes = [change_type, change_type, change_attribute, change_attribute, drop_attribute, add_attribute]
    return [chooser.choice(changes)(chooser.choice(functions), chooser) for _ in range(CHANGES)]


def faults(command, path):
    """What a tool reports: line -> message, without the names of operands, which Python alone tells."""
    run = subprocess.run([*command, path, "-split-input-file"], capture_output=True, text=True)
    found = {}
    for line, message in re.findall(r"^[^\n]*?:(\d+):\d+: error: (.*)$", run.stderr, re.MULTILINE):
        found.setdefault(int(line), re.sub(r"((?:operand|result) #\d+) \('\w+'\) must be ", r"\1 must be ", message))
    return found


def test_verdicts_of_both_verifiers(tools, tmp_path):
    chunks = changed_functions(random.Random(0))
    path = tmp_path / "changed.mlir"
    path.write_text(_SEPARATOR.join(f"{chunk}\n" for chunk in chunks))
    python, cpp = faults(tools["python"], path), faults(tools["cpp"], path)
    lines = path.read_text().splitlines()
    differing = [
        f"{lines[line - 1]}\n  python: {python.get(line)}\n  cpp:    {cpp.get(line)}"
        for line in sorted(python.keys() | cpp.keys())
        if python.get(line) != cpp.get(line)
    ]
    assert not differing, "\n".join(differing)
    assert CHANGES / 4 < len(cpp) < CHANGES

# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Declarations of passes and their modules agree; options are read as declared."""

import inspect
import pkgutil
import subprocess
import sys

import pytest
from torch_mlir import ir

from torq_mlir import dialects, passes
from torq_mlir.passes import OptionError, OptionInfo, PassInfo, registry


def test_every_module_is_declared():
    modules = sorted(module.name for module in pkgutil.iter_modules(passes.__path__))
    assert [name.replace("-", "_") for name in registry()] == modules


@pytest.mark.parametrize("name", registry())
def test_declaration(name):
    info = registry()[name]
    assert info.summary
    assert not info.summary.endswith(".")
    assert "```mlir" in info.description
    assert all(option.description for option in info.options)


@pytest.mark.parametrize("name", registry())
def test_implementation_takes_the_declared_options(name):
    info = registry()[name]
    _, *keywords = inspect.signature(info.load()).parameters.values()
    assert [parameter.name for parameter in keywords] == [option.keyword for option in info.options]
    defaults = [parameter.default for parameter in keywords if parameter.default is not inspect.Parameter.empty]
    assert not defaults or defaults == [option.default for option in info.options]


def test_dependent_dialects_exist():
    context = ir.Context()
    dialects.register(context)
    for info in registry().values():
        for dialect in info.dependent_dialects:
            context.get_dialect_descriptor(dialect)


def test_passes_are_imported_when_they_run():
    code = """
import sys, torq_mlir.tools.torq_opt
print([name for name in sys.modules if name.startswith("torq_mlir.passes.")])
print([name for name in ("onnx", "onnxruntime", "torch", "torch_mlir.dialects.torch") if name in sys.modules])
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n[]\n"


def option(type_: str, default: str | None = None, is_list: bool = False, name: str = "an-option") -> OptionInfo:
    declared = {"name": name, "type": type_, "default": default, "description": "", "list": is_list}
    return OptionInfo.from_declaration(declared)


@pytest.mark.parametrize(
    ("info", "default", "text", "value"),
    [
        (option("bool", "false"), False, "true", True),
        (option("bool", "true"), True, "0", False),
        (option("bool"), False, "TRUE", True),
        (option("int", "-3"), -3, "0x10", 16),
        (option("int64_t"), 0, "-5", -5),
        (option("unsigned", "7"), 7, "8", 8),
        (option("double", "0.5"), 0.5, "1e-3", 1e-3),
        (option("std::string", '"a b"'), "a b", "c", "c"),
        (option("std::string"), "", "", ""),
        (option("int", is_list=True), (), "1,-2, 3", (1, -2, 3)),
        (option("std::string", is_list=True), (), "", ()),
    ],
)
def test_option_values(info, default, text, value):
    assert info.default == default
    assert info.parse(text) == value
    assert type(info.parse(text)) is type(value)


@pytest.mark.parametrize(
    ("info", "text"),
    [
        (option("bool"), "maybe"),
        (option("int"), "1.5"),
        (option("int"), ""),
        (option("unsigned"), "-1"),
        (option("double"), "x"),
        (option("int", is_list=True), "1,,2"),
    ],
)
def test_wrong_option_values(info, text):
    with pytest.raises(OptionError, match=f"'{text}' is no value of option an-option"):
        info.parse(text)


def test_unknown_option_type():
    with pytest.raises(ValueError, match="std::complex; known types"):
        option("std::complex")


SAMPLE = PassInfo(
    name="sample",
    summary="",
    description="",
    operation="any",
    dependent_dialects=(),
    options=(
        option("int", "1", name="count"),
        option("bool", "false", name="is-fast"),
        option("std::string", name="text"),
        option("int", is_list=True, name="sizes"),
    ),
)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", {}),
        ("count=3", {"count": 3}),
        ("  is-fast   count=3 ", {"is_fast": True, "count": 3}),
        ("is-fast=false", {"is_fast": False}),
        ("text=\"a b\" sizes='1,2'", {"text": "a b", "sizes": (1, 2)}),
        ("sizes={1,2} text={a {b} c}", {"text": "a {b} c", "sizes": (1, 2)}),
        ("text=", {"text": ""}),
        ("text=x=y count=1 count=2", {"text": "x=y", "count": 2}),
    ],
)
def test_options_of_a_pass(text, values):
    parsed = SAMPLE.parse_options(text)
    assert parsed == {"count": 1, "is_fast": False, "text": "", "sizes": ()} | values
    formatted = SAMPLE.format(parsed)
    assert formatted.startswith("sample{count=")
    assert SAMPLE.parse_options(formatted.removeprefix("sample{").removesuffix("}")) == parsed


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("speed=3", "no such option speed; sample has count, is-fast, text, sizes"),
        ("count", "option count needs a value, count=int"),
        ("count=x", "'x' is no value of option count"),
        ('text="a', 'missing "'),
        ("text={a", "missing }"),
    ],
)
def test_wrong_options_of_a_pass(text, reason):
    with pytest.raises(OptionError, match=reason):
        SAMPLE.parse_options(text)

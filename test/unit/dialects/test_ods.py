# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the ODS states reaches Python: predicates, defaults, summaries, and a failing build for what does not."""

import importlib.util
import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from torch_mlir import ir

from torq_mlir import dialects
from torq_mlir.dialects import ods, quantized_decomposed, torq_hl

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "cmake" / "describe_dialect.py"
SITE = Path(sysconfig.get_path("purelib"))


@pytest.fixture(scope="module")
def describe():
    spec = importlib.util.spec_from_file_location("describe_dialect", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def leaf(expression):
    return {"!name": expression, "!superclasses": ["Pred", "CPred"], "predExpr": expression}


def combiner(kind, *children, **fields):
    return {
        "!name": kind,
        "!superclasses": ["Pred", "CombinedPred", kind],
        "children": [{"def": child} for child in children],
        **fields,
    }


I32 = "($_self.isSignlessInteger(32))"
I8 = "($_self.isSignlessInteger(8))"
F32 = "($_self.isF32())"
TENSOR = "(::llvm::isa<::mlir::RankedTensorType>($_self))"


@pytest.fixture
def evaluate(describe):
    """Translates the record "root" and evaluates it on the type or attribute written in MLIR's syntax."""
    from torq_mlir.dialects.predicates import is_signless

    def run(records, *subjects):
        source = describe.PredicateTranslator(records)("root")
        predicate = eval(f"lambda self: {source}", {"ir": ir, "is_signless": is_signless})
        with ir.Context():
            return [predicate(ir.Type.parse(subject)) for subject in subjects]

    return run


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("And", [False, False, False]), ("Or", [True, True, False])],
)
def test_and_or(evaluate, kind, expected):
    records = {"a": leaf(I32), "b": leaf(F32), "root": combiner(kind, "a", "b")}
    assert evaluate(records, "i32", "f32", "i8") == expected


def test_empty_conjunction_holds_and_empty_disjunction_does_not(evaluate):
    assert evaluate({"root": combiner("And")}, "i8") == [True]
    assert evaluate({"root": combiner("Or")}, "i8") == [False]


def test_negation(evaluate):
    assert evaluate({"a": leaf(I32), "root": combiner("Neg", "a")}, "i32", "si32") == [False, True]


def test_element_types_are_tested_by_concatenation_and_substitution(evaluate):
    """The form of TensorOf: a lambda around the element type's predicate, whose subject is renamed."""
    records = {
        "i32": leaf(I32),
        "i8": leaf(I8),
        "either": combiner("Or", "i32", "i8"),
        "renamed": combiner("SubstLeaves", "either", pattern="$_self", replacement="elementType"),
        "called": combiner(
            "Concat",
            "renamed",
            prefix="[](::mlir::Type elementType) { return ",
            suffix="; }(::llvm::cast<::mlir::ShapedType>($_self).getElementType())",
        ),
        "tensor": leaf(TENSOR),
        "root": combiner("And", "tensor", "called"),
    }
    subjects = "tensor<2xi32>", "tensor<2xi8>", "tensor<2xf32>", "tensor<*xi8>", "i8"
    assert evaluate(records, *subjects) == [True, True, False, False, False]


def test_leaf_without_translation_is_an_error(describe):
    with pytest.raises(describe.UnsupportedDefinitionError, match=r"\$_self\.isLucky\(\)"):
        describe.PredicateTranslator({"root": leaf("$_self.isLucky()")})("root")


UNTRANSLATABLE = {
    "predicate": ("def T : Type<CPred<\"$_self.isLucky()\">>; def BadOp : Op<D, \"bad\"> {"
                  " let arguments = (ins T:$x); let results = (outs I32:$y); }", "$_self.isLucky()"),
    "default": ("def BadOp : Op<D, \"bad\"> { let arguments = (ins DefaultValuedOptionalAttr<I32Attr, \"f()\">:$n);"
                " let results = (outs I32:$y); }", "default f() of attribute n"),
    "printed default": ("def BadOp : Op<D, \"bad\"> { let arguments = (ins DefaultValuedAttr<I32Attr, \"1\">:$n);"
                        " let results = (outs I32:$y); }", "attribute n must be a DefaultValuedOptionalAttr"),
    "trait": ("def BadOp : Op<D, \"bad\", [Commutative]> { let arguments = (ins I32:$x);"
              " let results = (outs I32:$y); }", "traits Commutative"),
    "region": ("def BadOp : Op<D, \"bad\"> { let regions = (region AnyRegion:$r); }", "regions"),
    "two variadics": ("def BadOp : Op<D, \"bad\"> { let arguments = (ins Variadic<I32>:$x, Optional<I32>:$y); }",
                      "more than one optional or variadic operand"),
}  # fmt: skip


@pytest.mark.parametrize("what", UNTRANSLATABLE)
def test_build_fails_for_what_has_no_translation(tmp_path, what):
    definition, message = UNTRANSLATABLE[what]
    source = tmp_path / "bad.td"
    source.write_text(
        'include "mlir/IR/OpBase.td"\ndef D : Dialect { let name = "d"; let cppNamespace = "::d::e"; }\n' + definition
    )
    records = tmp_path / "bad.json"
    tblgen, includes = SITE / "llvm" / "bin" / "llvm-tblgen", SITE / "mlir" / "include"
    subprocess.run([tblgen, "--dump-json", source, "-I", includes, "-o", records], check=True)
    run = subprocess.run(
        [sys.executable, SCRIPT, records, "--dialect", "d", "-o", tmp_path / "bad.py"], capture_output=True, text=True
    )
    assert run.returncode == 1
    assert message in run.stderr
    assert "Traceback" not in run.stderr
    assert not (tmp_path / "bad.py").exists()


def attribute(name, attribute_name):
    definition = torq_hl.OPERATIONS.get(name) or quantized_decomposed.OPERATIONS[name]
    return next(each for each in definition.attributes if each.name == attribute_name)


@pytest.mark.parametrize(
    ("operation", "name", "good", "bad"),
    [
        ("torq_hl.conv2d", "pad", ["array<i64: 0, 1, 2, 3>"], ["array<i64: 1, 1, 1>", "array<i64: 0, 0, 0, -1>",
                                                               "array<i32: 0, 0, 0, 0>", "1 : i64"]),
        ("torq_hl.conv2d", "stride", ["array<i64: 1, 2>"], ["array<i64: 1, 0>", "array<i64: 1>", "array<i64>"]),
        ("torq_hl.conv2d", "groups", ["1 : i32"], ["0 : i32", "-1 : i32", "1 : i64", "1.0 : f32", "true"]),
        ("torq_hl.conv2d", "shift_factor", ["0 : i32", "44 : i32"], ["-4 : i32"]),
        ("torq_hl.conv2d", "vectorization_mode", ["0 : i32"], ["1 : i32", "0 : i64"]),
        ("torq_hl.conv2d", "nhwc_input", ["true", "false"], ["1 : i32", "unit"]),
        ("torq_hl.mul", "shift", ["32 : i8"], ["32 : i32", "-1 : i8"]),
        ("torq_hl.act", "name", ['"f2i"', '"tanh"'], ['"sine"', '"f2iq"', "unit"]),
        ("torq_hl.act", "min_fp", ["1.0 : f32"], ["1.0 : f64", "1 : i32"]),
        ("torq_hl.elementwisebinary", "op_type", ["0 : i32", "14 : i32"], ["15 : i32", "-1 : i32", "0 : i8"]),
        ("quantized_decomposed.quantize_per_tensor", "dtype", ["si8", "ui16", "si32", "ui4"],
         ["i8", "f32", "ui32", "si64", "8 : i64"]),
        ("quantized_decomposed.quantize_per_tensor", "divide", ["unit"], ["true"]),
    ],
)  # fmt: skip
def test_attribute_constraints(operation, name, good, bad):
    holds = attribute(operation, name).constraint.holds
    with ir.Context():
        assert [holds(ir.Attribute.parse(text)) for text in good] == [True] * len(good)
        assert [holds(ir.Attribute.parse(text)) for text in bad] == [False] * len(bad)


@pytest.mark.parametrize(
    ("operation", "position", "good", "bad"),
    [
        ("torq_hl.conv2d", 0, ["tensor<1x2xi8>", "tensor<?xbf16>"], ["tensor<*xi8>", "tensor<1xsi8>", "tensor<1xi1>",
                                                                   "memref<1xi8>", "vector<1xi8>", "i8"]),
        ("torq_hl.conv2d", 1, ["tensor<1xi16>"], ["tensor<1xi32>"]),
        ("torq_hl.conv2d", 2, ["tensor<2xi32>", "tensor<?xf32>"], ["tensor<2x1xi32>", "tensor<i32>", "tensor<2xi64>"]),
        ("torq_hl.table", 2, ["tensor<4xi8>", "tensor<4xi16>"], ["tensor<4xi32>"]),
        ("quantized_decomposed.quantize_per_tensor", 0,
         ["tensor<2xf16>", "!torch.vtensor<[2],f32>", "!torch.vtensor"], ["f32", "tensor<2xi8>", "!torch.int"]),
        ("quantized_decomposed.quantize_per_tensor", 1, ["f64", "!torch.float", "tensor<f32>"], ["i32", "!torch.int"]),
        ("quantized_decomposed.quantize_per_tensor", 2, ["i64", "!torch.int", "tensor<i8>"], ["f32", "!torch.float"]),
    ],
)  # fmt: skip
def test_operand_constraints(operation, position, good, bad):
    definition = torq_hl.OPERATIONS.get(operation) or quantized_decomposed.OPERATIONS[operation]
    holds = definition.operands[position].constraint.holds
    with ir.Context() as context:
        dialects.register(context)
        assert [holds(ir.Type.parse(text)) for text in good] == [True] * len(good)
        assert [holds(ir.Type.parse(text)) for text in bad] == [False] * len(bad)


def test_absent_attributes_have_their_defaults():
    conv = {each.name: (each.required, each.default) for each in torq_hl.OPERATIONS["torq_hl.conv2d"].attributes}
    assert conv["nhwc_input"] == (False, False)
    assert conv["pad"] == (True, None)
    table = {each.name: ods.absent_value(each) for each in torq_hl.OPERATIONS["torq_hl.table"].attributes}
    assert table == {"static_table": None, "output_zp": 0, "shift": 0, "saturate_i16": False}


SINGLE = ods.Constraint("anything", lambda self: True)


@pytest.mark.parametrize(
    ("variadicities", "count", "expected"),
    [
        (["single", "single"], 2, {"v0": 0, "v1": 1}),
        (["single", "optional"], 2, {"v0": 0, "v1": 1}),
        (["single", "optional"], 1, {"v0": 0, "v1": None}),
        (["single", "variadic", "single"], 2, {"v0": 0, "v1": (), "v2": 1}),
        (["single", "variadic", "single"], 3, {"v0": 0, "v1": (1,), "v2": 2}),
        (["single", "variadic", "single"], 4, {"v0": 0, "v1": (1, 2), "v2": 3}),
    ],
)
def test_group(variadicities, count, expected):
    definitions = tuple(ods.Value(f"v{index}", SINGLE, each) for index, each in enumerate(variadicities))
    assert ods.group("operand", list(range(count)), definitions) == expected


@pytest.mark.parametrize(
    ("what", "variadicities", "count", "message"),
    [
        ("operand", ["single", "single"], 3, "expected 2 operands, but found 3"),
        ("operand", ["single"], 0, "requires a single operand"),
        ("result", ["single"], 2, "requires one result"),
        ("result", ["single", "single"], 1, "expected 2 results"),
        ("operand", ["single", "optional"], 3, "operand group starting at #1 requires 0 or 1 element, but found 2"),
        ("operand", ["single", "variadic", "single"], 1, "expected 2 or more operands, but found 1"),
    ],
)
def test_group_of_a_wrong_number(what, variadicities, count, message):
    definitions = tuple(ods.Value(f"v{index}", SINGLE, each) for index, each in enumerate(variadicities))
    with pytest.raises(ods.InvalidOperationError, match=message):
        ods.group(what, list(range(count)), definitions)


def test_pass_descriptions_have_their_options(tmp_path):
    records = {
        "!instanceof": {"PassBase": ["P"]},
        "P": {
            "argument": "do-it", "baseClass": "::mlir::OperationPass<::mlir::func::FuncOp>", "summary": "does it",
            "description": "\n    text\n      indented\n  ", "dependentDialects": [], "options": [{"def": "O"}],
        },
        "O": {"!superclasses": ["Option"], "argument": "how", "cppName": "how", "type": "bool", "defaultValue": "true",
              "description": "in which way"},
    }  # fmt: skip
    source, output = tmp_path / "records.json", tmp_path / "passes.json"
    source.write_text(json.dumps(records))
    subprocess.run([sys.executable, SCRIPT.with_name("describe_passes.py"), source, "-o", output], check=True)
    (described,) = json.loads(output.read_text())
    assert described["name"] == "do-it"
    assert described["operation"] == "func.func"
    assert described["description"] == "text\n  indented"
    assert described["options"] == [
        {
            "name": "how",
            "variable": "how",
            "type": "bool",
            "default": "true",
            "description": "in which way",
            "list": False,
        }
    ]

# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Turns TableGen's record dump of a dialect into a Python module that describes the dialect.

Constraints keep their structure (And, Or, Neg, SubstLeaves, Concat); their C++ leaves are translated by the tables
below. What has no translation is an error, so an op can not silently lose a check.
"""

import argparse
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path

Record = Mapping
_TERM = r"(?P<it>\$_self|[A-Za-z]\w*)"
_OWN = "::torq_mlir::quantized_decomposed::"
_CAST = rf"::llvm::cast<(?:::mlir::)?\w+>\({_TERM}\)"

# C++ expression -> Python expression, where `{it}` is the attribute or type. The wheel downcasts what it hands out, so
# a C++ cast needs no counterpart.
_LEAVES = [
    (r"true", "True"),
    (rf"{_TERM}\.isF(?P<width>16|32|64)\(\)", "isinstance({it}, ir.F{width}Type)"),
    (rf"{_TERM}\.isSignlessInteger\((?P<width>\d+)\)", "is_signless({it}, {width})"),
    (rf"::llvm::isa<(?:::mlir::)?BFloat16Type>\({_TERM}\)", "isinstance({it}, ir.BF16Type)"),
    (rf"::llvm::isa<(?:::mlir::)?(?P<kind>RankedTensorType)>\({_TERM}\)", "isinstance({it}, ir.{kind})"),
    (
        rf"::llvm::isa<(?:::mlir::)?TensorType>\({_TERM}\)",
        "isinstance({it}, ir.RankedTensorType | ir.UnrankedTensorType)",
    ),
    (rf"::llvm::isa<(?:::mlir::)?IntegerAttr>\({_TERM}\)", "isinstance({it}, ir.IntegerAttr | ir.BoolAttr)"),
    (
        rf"::llvm::isa<(?:::mlir::)?(?P<kind>(?:Bool|Float|String|Type|Unit|DenseI(?:8|16|32|64)Array)Attr)>\({_TERM}\)",
        "isinstance({it}, ir.{kind})",
    ),
    (rf"{_CAST}\.hasRank\(\)", "{it}.has_rank"),
    (rf"{_CAST}\.getRank\(\)\s*==\s*(?P<rank>\d+)", "{it}.rank == {rank}"),
    (rf"{_CAST}\.getType\(\)\.isF(?P<width>16|32|64)\(\)", "isinstance({it}.type, ir.F{width}Type)"),
    (rf"{_CAST}\.getType\(\)\.isSignlessInteger\((?P<width>\d+)\)", "is_signless({it}.type, {width})"),
    (rf"{_CAST}\.getValue\(\)\.isStrictlyPositive\(\)", "{it}.value > 0"),
    (rf"!{_CAST}\.getValue\(\)\.isNegative\(\)", "{it}.value >= 0"),
    (rf'{_CAST}\.getValue\(\) == "(?P<text>\w+)"', "{it}.value == '{text}'"),
    (rf"{_CAST}\.getInt\(\) == (?P<value>-?\d+)", "{it}.value == {value}"),
    (rf"{_CAST}\.size\(\) == (?P<size>\d+)", "len({it}) == {size}"),
    (
        rf"::llvm::all_of\({_CAST}\.asArrayRef\(\), \[&\]\(auto v\) \{{ return v > 0; \}}\)",
        "min(array_values({it}), default=1) > 0",
    ),
    (
        rf"::llvm::all_of\({_CAST}\.asArrayRef\(\), \[&\]\(auto v\) \{{ return v >= 0; \}}\)",
        "min(array_values({it}), default=0) >= 0",
    ),
    (rf'{_OWN}isTorchType\({_TERM}, "(?P<mnemonic>\w+)"\)', "is_torch_type({it}, '{mnemonic}')"),
    (rf"{_OWN}isElementType\({_CAST}\.getValue\(\)\)", "is_element_type({it}.value)"),
    (rf"{_OWN}isStorageType\({_CAST}\.getValue\(\)\)", "is_storage_type({it}.value)"),
]

# Arguments of the immediately called lambdas that Concat writes.
_CALLS = [(rf"{_CAST}\.getElementType\(\)", "{it}.element_type")]
_LAMBDA = re.compile(r"\[\]\(::mlir::Type (\w+)\) \{ return ")

# How TableGen builds an attribute -> the kind of attribute, see torq_mlir.dialects.ods.
_BUILDERS = [
    (r"\$_builder\.getBoolAttr\(\$0\)", "bool"),
    (r"\$_builder\.getIntegerAttr\(\$_builder\.getIntegerType\((?P<width>\d+)\), \$0\)", "i{width}"),
    (r"\$_builder\.getFloatAttr\(\$_builder\.getF(?P<width>\d+)Type\(\), \$0\)", "f{width}"),
    (r"\$_builder\.getDenseI(?P<width>\d+)ArrayAttr\(\$0\)", "array<i{width}>"),
    (r"\$_builder\.getStringAttr\(\$0\)", "string"),
    (r"::mlir::TypeAttr", "type"),  # has no builder; this is its storage
    (r".*\$_builder\.getUnitAttr\(\).*", "unit"),
    (r"::\w+::\w+::\w+Attr::get\(\$_builder\.getContext\(\), \$0\)", "i32"),
]

# Defaults as TableGen writes them -> Python.
_DEFAULTS = [("false", "False"), ("true", "True"), (r"(?P<number>-?\d+)", "{number}")]

_HEADER = """\
# Generated from the definition of the {name} dialect; do not edit.
from torch_mlir import ir

from torq_mlir.dialects.ods import Attribute, Constraint, Dialect, Operation, Value, array_values
from torq_mlir.dialects.predicates import is_element_type, is_signless, is_storage_type, is_torch_type

"""


class UnsupportedDefinitionError(Exception):
    """The dialect uses something that has no Python counterpart yet."""


def _rewrite(text: str, table: list, names: Mapping[str, str]) -> str | None:
    for pattern, replacement in table:
        if match := re.fullmatch(pattern, text):
            found = match.groupdict()
            return replacement.format(**{**found, "it": names.get(found.get("it"), found.get("it"))})
    return None


class PredicateTranslator:
    """Python source of predicates; `self` is the attribute or type under test."""

    def __init__(self, records: Mapping[str, Record]):
        self._records = records

    def __call__(self, predicate: str) -> str:
        return self._expression(self._records[predicate], (), {"$_self": "self"})

    def _expression(self, record: Record, substitutions: tuple, names: Mapping[str, str]) -> str:
        kinds = record["!superclasses"]
        if "CPred" in kinds:
            return self._leaf(record["predExpr"], substitutions, names)
        children = [self._records[child["def"]] for child in record["children"]]
        if "SubstLeaves" in kinds:
            return self._expression(children[0], (*substitutions, (record["pattern"], record["replacement"])), names)
        if "Concat" in kinds:
            return self._call(record, children[0], substitutions, names)
        operands = [self._expression(child, substitutions, names) for child in children]
        if "Neg" in kinds:
            return f"(not {operands[0]})"
        for kind, operator, neutral in (("And", " and ", "True"), ("Or", " or ", "False")):
            if kind in kinds:
                return f"({operator.join(operands)})" if operands else neutral
        raise UnsupportedDefinitionError(f"predicate {record['!name']} of class {kinds[-1]}")

    def _leaf(self, text: str, substitutions: tuple, names: Mapping[str, str]) -> str:
        for pattern, replacement in reversed(substitutions):
            text = text.replace(pattern, replacement)
        stripped = text.strip()
        while stripped.startswith("(") and _closes_at_end(stripped):
            stripped = stripped[1:-1].strip()
        expression = _rewrite(stripped, _LEAVES, names)
        if expression is None:
            raise UnsupportedDefinitionError(f"no Python translation of the C++ predicate: {text}")
        return expression

    def _call(self, record: Record, child: Record, substitutions: tuple, names: Mapping[str, str]) -> str:
        head = _LAMBDA.fullmatch(record["prefix"])
        suffix = record["suffix"]
        if head is None or not (suffix.startswith("; }(") and suffix.endswith(")")):
            raise UnsupportedDefinitionError(f"no Python translation of: {record['prefix']} .. {suffix}")
        argument = _rewrite(suffix.removeprefix("; }(").removesuffix(")"), _CALLS, names)
        if argument is None:
            raise UnsupportedDefinitionError(f"no Python translation of the argument in: {suffix}")
        body = self._expression(child, substitutions, {**names, head[1]: "element"})
        return f"(lambda element: {body})({argument})"


def _closes_at_end(text: str) -> bool:
    """Whether the first parenthesis of `text` is closed by its last character."""
    depth = 0
    for position, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return position == len(text) - 1
    return False


class DialectDescriber:
    """Python source of a dialect's description. Equal constraints share one definition."""

    def __init__(self, records: Mapping[str, Record], dialect: str):
        self._records = records
        self._dialect = dialect
        self._translate = PredicateTranslator(records)
        self._constraints: dict[tuple[str, str], str] = {}

    def describe(self) -> str:
        operations = []
        for name in sorted(self._records["!instanceof"]["Op"]):
            record = self._records[name]
            if self._records[record["opDialect"]["def"]]["name"] == self._dialect:
                operations.append(self._operation(record))
        if not operations:
            raise UnsupportedDefinitionError(f"no operation of dialect {self._dialect}")
        constraints = [
            f"{name} = Constraint({summary!r}, lambda self: {expression})"
            for (summary, expression), name in self._constraints.items()
        ]
        body = f"DIALECT = Dialect({self._dialect!r}, (\n    " + ",\n    ".join(operations) + ",\n))"
        return _HEADER.format(name=self._dialect) + "\n".join(constraints) + f"\n\n{body}\n"

    def _operation(self, record: Record) -> str:
        name = f"{self._dialect}.{record['opName']}"
        if record["regions"]["args"] or record["successors"]["args"]:
            raise UnsupportedDefinitionError(f"{name}: regions and successors")
        traits = {trait["def"] for trait in record["traits"]}
        if unknown := traits - {"Pure", "Torq_KnownAttributes"}:  # which torq_mlir.dialects.verification checks for all
            raise UnsupportedDefinitionError(f"{name}: traits {', '.join(sorted(unknown))}")
        operands, attributes = [], []
        for argument, argument_name in record["arguments"]["args"]:
            constraint = self._records[argument["def"]]
            if "TypeConstraint" in constraint["!superclasses"]:
                operands.append(self._value(constraint, argument_name))
            else:
                attributes.append(self._attribute(constraint, argument_name, name))
        results = [self._value(self._records[kind["def"]], result) for kind, result in record["results"]["args"]]
        for what, values in (("operand", operands), ("result", results)):
            if sum("'single'" not in value for value in values) > 1:
                raise UnsupportedDefinitionError(f"{name}: more than one optional or variadic {what}")
        fields = [name, record["summary"]]
        groups = ["({})".format("".join(f"{item}, " for item in group)) for group in (operands, attributes, results)]
        return "Operation({}, {}, pure={})".format(", ".join(map(repr, fields)), ", ".join(groups), "Pure" in traits)

    def _constraint(self, record: Record) -> str:
        if "IntEnumAttr" in record["!superclasses"]:
            expression = self._enumeration(record)
        else:
            expression = self._translate(record["predicate"]["def"])
        key = (record["summary"], expression)
        return self._constraints.setdefault(key, f"_C{len(self._constraints)}")

    def _enumeration(self, record: Record) -> str:
        """An enumeration is a signless integer; its C++ predicate asks for the generated attribute class."""
        values = sorted(self._records[case["def"]]["value"] for case in record["enumerants"])
        width = record["bitwidth"]
        return f"isinstance(self, ir.IntegerAttr) and is_signless(self.type, {width}) and self.value in {values}"

    def _value(self, record: Record, name: str) -> str:
        kinds = record["!superclasses"]
        variadicity = "variadic" if "Variadic" in kinds else "optional" if "Optional" in kinds else "single"
        return f"Value({name!r}, {self._constraint(record)}, {variadicity!r})"

    def _attribute(self, record: Record, name: str, operation: str) -> str:
        storage = record
        while "OptionalAttr" in storage["!superclasses"] or "ConfinedAttr" in storage["!superclasses"]:
            storage = self._records[storage["baseAttr"]["def"]]
        kind = _rewrite(storage["constBuilderCall"] or storage["storageType"].strip(), _BUILDERS, {})
        if kind is None:
            raise UnsupportedDefinitionError(f"{operation}: no Python form of attribute {name}")
        default = "None"
        if "DefaultValuedAttr" in record["!superclasses"]:
            raise UnsupportedDefinitionError(
                f"{operation}: attribute {name} must be a DefaultValuedOptionalAttr; the other is printed when absent"
            )
        if "DefaultValuedOptionalAttr" in record["!superclasses"]:
            default = _rewrite(record["defaultValue"], _DEFAULTS, {})
            if default is None:
                raise UnsupportedDefinitionError(f"{operation}: default {record['defaultValue']} of attribute {name}")
        constraint, optional = self._constraint(record), bool(record["isOptional"])
        return f"Attribute({name!r}, {constraint}, {kind!r}, {optional}, {default})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", type=Path, help="output of llvm-tblgen --dump-json")
    parser.add_argument("--dialect", required=True)
    parser.add_argument("-o", dest="output", type=Path, required=True)
    arguments = parser.parse_args()
    try:
        source = DialectDescriber(json.loads(arguments.records.read_text()), arguments.dialect).describe()
    except UnsupportedDefinitionError as error:
        print(f"{parser.prog}: {arguments.dialect}: {error}", file=sys.stderr)
        return 1
    arguments.output.write_text(source)
    return 0


if __name__ == "__main__":
    sys.exit(main())

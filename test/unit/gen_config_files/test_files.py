# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is written is what is read; what does not fit the schema is refused with one line."""

import dataclasses
import json
import typing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_reports import cnn_report

from torq_mlir.gen_config import files
from torq_mlir.gen_config.files import encoding, reading
from torq_mlir.gen_config.files.documentation import documentation

finite = st.floats(allow_nan=False)
locations = st.tuples(st.integers(1, 10**6), st.integers(1, 10**4)).map(lambda pair: f"{pair[0]}:{pair[1]}")
counts = st.integers(0, 10**12)
short = st.text(max_size=8)
executors = st.sampled_from(files.EXECUTORS)
flag_values = st.none() | st.booleans() | st.integers() | finite.filter(lambda x: abs(x) < 1e300) | short
flags = st.dictionaries(short, flag_values | st.lists(short, max_size=2).map(tuple), max_size=3)

st.register_type_strategy(files.Tolerance, st.builds(files.Tolerance, *[st.floats(0, 1)] * 4))
st.register_type_strategy(files.Timing, st.builds(files.Timing, st.integers(1, 99), st.floats(0, 9), st.floats(0, 9)))
st.register_type_strategy(files.IrText, st.builds(files.IrText, short, short))
st.register_type_strategy(
    files.TensorInfo, st.builds(files.TensorInfo, short, st.lists(counts, max_size=3).map(tuple), short)
)
distributions = st.builds(files.Distribution, finite, finite, st.lists(counts, max_size=3).map(tuple))
values = st.builds(files.Values, short, finite, finite, distributions, distributions)
metrics = st.builds(files.Metrics, counts, counts, st.none() | finite, finite, finite, finite, finite)
results = st.builds(files.ExecutorResult, reason=short, metrics=st.none() | metrics, values=st.none() | values)
layers = st.builds(
    files.Layer,
    name=st.text(min_size=1, max_size=8),
    node_index=counts,
    recommended_executor=st.none() | executors,
    mlir_location=st.none() | locations,
    executors=st.dictionaries(executors, results, max_size=2),
    inputs=st.lists(st.from_type(files.TensorInfo), max_size=2).map(tuple),
    outputs=st.lists(st.from_type(files.TensorInfo), max_size=2).map(tuple),
)
comparisons = st.lists(st.builds(files.Comparison, metrics=st.none() | metrics), max_size=2).map(tuple)
sensitivities = st.lists(st.builds(files.LayerSensitivity, short, finite), max_size=2).map(tuple)
names = st.dictionaries(short, short, max_size=2)
reports = st.builds(
    files.Report,
    flags=flags,
    layers=st.lists(layers, max_size=3, unique_by=lambda layer: layer.name).map(tuple),
    hashes=names,
    versions=names,
    sensitivity=st.none() | st.builds(files.Sensitivity, sensitivities, st.lists(short, max_size=2).map(tuple)),
    run=st.none() | st.builds(files.FullModelRun, outputs=comparisons, tensors=comparisons),
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("files") / "torq_gen_config_cnn.json"


@given(report=reports)
def test_report_round_trip(path, report):
    files.write_report(path, report)
    assert files.read_report(path) == report


@given(
    content=st.builds(
        files.CompilerFile,
        flags=flags,
        op_assignments=st.dictionaries(locations, executors),
        hashes=names,
        op_names=names,
    )
)
def test_compiler_file_round_trip(path, content):
    files.write_compiler_file(path, content)
    assert files.read_compiler_file(path) == content


def test_numbers_that_json_has_not(path):
    metrics = files.Metrics(4, 1, float("nan"), float("inf"), 1.0, float("-inf"), float("nan"))
    layer = dataclasses.replace(
        cnn_report().layers[0], executors={"nss": files.ExecutorResult(files.Status.DIFFERENCE, metrics=metrics)}
    )
    files.write_report(path, dataclasses.replace(cnn_report(), layers=(layer,)))
    text = path.read_text()
    json.loads(text, parse_constant=pytest.fail)
    read = files.read_report(path).layers[0].executors["nss"].metrics
    assert [str(value) for value in dataclasses.astuple(read)] == ["4", "1", "nan", "inf", "1.0", "-inf", "nan"]


def test_a_report_has_its_summary(path):
    files.write_report(path, cnn_report())
    assert json.loads(path.read_text())["summary"] == {
        "layers": 7,
        "duplicates": 1,
        "recommended": {"nss": 4, "css": 1, "host": 1, "none": 1},
        "statuses": {
            "nss": {"success": 5, "difference": 1, "error": 1},
            "css": {"success": 5, "error": 1, "skipped": 1},
            "host": {"success": 4, "error": 2},
        },
        "critical_failures": ["GlobalLpPool_4"],
    }


def written(path, change, report=None):
    files.write_report(path, report or cnn_report())
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content.update(format_version=2), "format version 2; this version of torq-mlir reads 1"),
        (lambda content: content.update(format_version=True), "format version true; this version"),
        (lambda content: content.pop("format_version"), "format version null; this version"),
        (lambda content: content.update(format_version=[[0] * 1000]), r"format version .{200}\.\.\.; this version"),
        (lambda content: content.pop("kind"), "not a torq-gen-config report: it does not say so"),
        (lambda content: content.update(kind=[]), "not a torq-gen-config report: it does not say so"),
        (
            lambda content: content.update(kind=reading.COMPILER_FILE_KIND),
            "this is the compiler file, which `run` writes anew; give the report instead",
        ),
        (lambda content: content.pop("layers"), r"\$: 'layers' is a required property"),
        (lambda content: content["layers"][0].update(recommended_executor="gpu"), "recommended_executor: 'gpu' is not"),
        (lambda content: content["layers"][0].update(mlir_location="0:5"), "mlir_location"),
        (
            lambda content: content["layers"][0]["executors"]["nss"].update(status="good"),
            "status: 'good' is not one of",
        ),
        (lambda content: content["layers"][0]["executors"].update(gpu={"status": "error"}), "executors: 'gpu' is not"),
        (lambda content: content["layers"][1].update(name="Conv_0"), "two layers have the name 'Conv_0'"),
        (lambda content: content.update(layers=[[["x" * 1000]]]), r"\$.layers\[0\]: .{200}\.\.\.$"),
    ],
)
def test_what_does_not_fit_is_refused(path, change, message):
    written(path, change)
    with pytest.raises(files.ConfigFileError, match=message) as caught:
        files.read_report(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[1]", "not a JSON object"),
        (b'{"kind": NaN}', "not JSON: NaN is no number of JSON"),
        (b'{"kind": 1' + b"0" * 400 + b"}", "not JSON: a number of 401 digits"),
        (b"[" * 100_000, "not JSON"),
        (None, "No such file or directory"),
    ],
    ids=["empty", "binary", "list", "constant", "number", "deep", "missing"],
)
@pytest.mark.parametrize("read", [files.read_report, files.read_compiler_file])
def test_what_is_no_file_of_ours_is_refused(tmp_path, read, data, message):
    path = tmp_path / "file.json"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(files.ConfigFileError, match=message):
        read(path)


def test_truncated_report(path):
    files.write_report(path, cnn_report())
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(files.ConfigFileError, match="not JSON"):
        files.read_report(path)


def test_what_a_later_version_adds_is_ignored(path):
    written(path, lambda content: content["layers"][0].update(colour="blue"))
    assert files.read_report(path) == cnn_report()


def dataclass_of(type_):
    if dataclasses.is_dataclass(type_):
        return [type_]
    return [found for argument in typing.get_args(type_) for found in dataclass_of(argument)]


def fields_of(type_, schema, definition):
    """Pairs of the fields of a dataclass and the properties of its schema, for `type_` and all that is in it."""
    while "properties" not in definition:
        definition = schema_below(schema, definition)
    hints = typing.get_type_hints(type_)
    yield type_.__name__, set(hints), set(definition["properties"])
    for name, hint in hints.items():
        for inner in dataclass_of(hint):
            yield from fields_of(inner, schema, definition["properties"][name])


def schema_below(schema, definition):
    if "$ref" in definition:
        return schema["$defs"][definition["$ref"].rpartition("/")[2]]
    return (
        definition["anyOf"][0]
        if "anyOf" in definition
        else definition.get("items") or definition["additionalProperties"]
    )


@pytest.mark.parametrize(
    ("type_", "kind", "only_in_file"),
    [
        (files.Report, reading.REPORT_KIND, {"kind", "format_version", "summary"}),
        (files.CompilerFile, reading.COMPILER_FILE_KIND, {"kind", "format_version"}),
    ],
)
def test_schema_has_the_fields(type_, kind, only_in_file):
    schema = reading.schema(kind)
    for name, fields, properties in fields_of(type_, schema, schema):
        assert properties - (only_in_file if name == type_.__name__ else set()) == fields, name


def test_documentation_is_that_of_the_schemas():
    page = Path(__file__).parents[3] / "docs" / "gen-config-files.md"
    assert page.read_text(encoding="utf-8") == documentation(), "run: make docs"


def test_encoding_leaves_out_what_is_empty():
    assert encoding.encode(files.ExecutorResult(files.Status.SKIPPED)) == {"status": "skipped"}

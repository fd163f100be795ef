# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of pipelines: what is parsed is printed again, and errors point at their place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torq_mlir import pipelines
from torq_mlir.pipelines import PassText, PipelineSyntaxError, PipelineText


@pytest.mark.parametrize(
    "text",
    [
        "builtin.module()",
        "builtin.module(cse)",
        "any(cse)",
        'builtin.module(a{opt=1 b="x y"},func.func(b,c{}),d)',
        "builtin.module(inline{op-pipelines={func.func(canonicalize{top-down=true},cse)}},builtin.module(func.func(cse)))",
    ],
)
def test_prints_what_it_parsed(text):
    assert str(pipelines.parse(text)) == text


def test_structure():
    parsed = pipelines.parse(" builtin.module( a {x=1} ,\n func.func( b ) ) ")
    first, second = parsed.elements
    assert parsed.anchor == "builtin.module"
    assert first == PassText("a", "x=1", position=17)
    assert second == PipelineText("func.func", (PassText("b", None, position=39),), position=28)


_NAMES = st.from_regex(r"[a-z][a-z0-9.-]{0,8}", fullmatch=True)
_OPTIONS = st.none() | st.from_regex(r'([a-z]+=("[a-z ]*"|\{[a-z,]*\}|[0-9]+))?', fullmatch=True)
_PASSES = st.builds(PassText, _NAMES, _OPTIONS)
_PIPELINES = st.recursive(
    st.builds(PipelineText, _NAMES, st.lists(_PASSES, max_size=3).map(tuple)),
    lambda inner: st.builds(PipelineText, _NAMES, st.lists(_PASSES | inner, max_size=3).map(tuple)),
    max_leaves=8,
)


@given(_PIPELINES)
def test_round_trip(pipeline):
    assert str(pipelines.parse(str(pipeline))) == str(pipeline)


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("cse", 0, "to be wrapped with the anchor operation type"),
        ("cse{x=1}", 0, "to be wrapped with the anchor operation type"),
        ("", 0, "expected the name of a pass or an operation"),
        ("builtin.module(cse", 14, "missing the ')' that closes this pipeline"),
        ("builtin.module(func.func(cse)", 14, "missing the ')' that closes this pipeline"),
        ("builtin.module(cse))", 19, "extra closing ')'"),
        ("builtin.module(cse)x", 19, "expected the end of the pipeline"),
        ("builtin.module(cse,)", 19, "expected the name of a pass or an operation"),
        ("builtin.module(,cse)", 15, "expected the name of a pass or an operation"),
        ("builtin.module(canonicalize{top-down=1)", 27, "missing closing '}'"),
        ("builtin.module(canonicalize{top-down=1}cse)", 39, "expected ',' after parsing pipeline"),
        ("builtin.module(func.func(cse)cse)", 29, "expected ',' after parsing pipeline"),
        ("builtin.module(cse cse)", 15, "'cse cse' does not refer to a registered pass"),
    ],
)
def test_errors_have_a_position(text, position, reason):
    with pytest.raises(PipelineSyntaxError, match=reason.replace("(", r"\(").replace(")", r"\)")) as caught:
        pipelines.parse(text)
    assert caught.value.position == position


def test_error_shows_the_place():
    with pytest.raises(PipelineSyntaxError) as caught:
        pipelines.parse("builtin.module(\n  cse,\n  func.func(cse,)\n)")
    assert str(caught.value) == (
        "pass pipeline:3:17: error: expected the name of a pass or an operation\n  func.func(cse,)\n                ^"
    )

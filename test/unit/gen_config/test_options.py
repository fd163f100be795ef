# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Flags as a report has them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torq_mlir.errors import TorqError
from torq_mlir.gen_config.files import ModelInfo, Report
from torq_mlir.gen_config.files.encoding import decode, encode
from torq_mlir.gen_config.options import ModelOptions, check_flags

TEXT = st.text(min_size=1, max_size=5)
NUMBERS = st.lists(st.floats(0.1, 10), min_size=1, max_size=3).map(tuple)
OPTIONS = st.builds(
    ModelOptions,
    quantize=st.booleans(),
    quant_format=st.sampled_from(["qdq", "QDQ", "hybrid"]),
    exclude=st.lists(TEXT, max_size=2).map(tuple),
    calibration_data=st.none() | TEXT,
    calibration_samples=st.none() | st.integers(1, 9),
    percentile=st.floats(90, 100),
    image_mean=NUMBERS,
    batch=st.none() | st.integers(1, 4),
)


@given(OPTIONS)
def test_flags_come_back_from_a_file(options):
    report = Report(ModelInfo("m", "m.onnx", "0" * 64), options.flags(), ())
    back = decode(Report, json.loads(json.dumps(encode(report))))
    check_flags(options.flags(), back.flags, "the report")


@given(OPTIONS, OPTIONS)
def test_flags_differ_exactly_if_options_do(first, second):
    same = first.flags() == second.flags()
    if same:
        check_flags(first.flags(), second.flags(), "the report")
        return
    with pytest.raises(TorqError, match="the report was made with other flags: --"):
        check_flags(first.flags(), second.flags(), "the report")


def test_differing_flags_are_named():
    given_flags = ModelOptions(quantize=True, exclude=("a", "b"), batch=2).flags()
    with pytest.raises(TorqError) as error:
        check_flags(given_flags, ModelOptions(quantize=True, per_channel=True).flags(), "r.json")
    assert str(error.value) == (
        "r.json was made with other flags: --per-channel not given (there given), --exclude a,b (there not given), "
        "--batch 2 (there not given); give the same, or discover again"
    )


def test_shapes():
    assert ModelOptions(input_shapes=("a:b:1,3", "y:4")).shapes() == {"a:b": (1, 3), "y": (4,)}
    for text in ("x", "x:", ":1", "x:1,a"):
        with pytest.raises(TorqError, match="is no shape of an input"):
            ModelOptions(input_shapes=(text,)).shapes()

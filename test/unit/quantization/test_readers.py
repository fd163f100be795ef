# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calibration data from files."""

import numpy as np
import pytest
from float_models import cnn, two_inputs
from PIL import Image

from torq_mlir import quantization
from torq_mlir.errors import InputError


def all_of(reader):
    return list(iter(reader.get_next, None))


def test_npz(tmp_path):
    path = tmp_path / "data.npz"
    p, q = np.arange(12, dtype=np.float32).reshape(3, 4), np.ones((3, 4), np.float32)
    np.savez(path, p=p, q=q)
    found = quantization.samples(two_inputs(), quantization.read_npz(path))
    assert [feed["p"].tolist() for feed in found] == [[[0, 1, 2, 3]], [[4, 5, 6, 7]], [[8, 9, 10, 11]]]
    assert len(quantization.samples(two_inputs(), quantization.read_npz(path), 2)) == 2


def test_npz_that_cannot_be_used(tmp_path):
    with pytest.raises(InputError, match=r"missing\.npz: No such file or directory"):
        quantization.read_npz(tmp_path / "missing.npz")
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(InputError, match=r"text\.npz: not a file of numpy\.savez"):
        quantization.read_npz(tmp_path / "text.npz")
    np.save(tmp_path / "array.npy", np.zeros(3))
    with pytest.raises(InputError, match=r"array\.npy: not a file of numpy\.savez"):
        quantization.read_npz(tmp_path / "array.npy")
    np.savez(tmp_path / "uneven.npz", p=np.zeros((2, 4)), q=np.zeros((3, 4)))
    with pytest.raises(InputError, match=r"the arrays have \[2, 3\] samples"):
        quantization.read_npz(tmp_path / "uneven.npz")


def test_folder_of_arrays(tmp_path):
    for index in (1, 0):
        np.save(tmp_path / f"{index}.npy", np.full((3, 8, 8), index, np.float32))
    found = quantization.samples(cnn(), quantization.read_files(tmp_path, {"x": [1, 3, 8, 8]}))
    assert [float(feed["x"].max()) for feed in found] == [0.0, 1.0]


def test_folder_for_each_input(tmp_path):
    for name in ("p", "q"):
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "0.npy", np.ones((1, 4), np.float32))
    shapes = {"p": [1, 4], "q": [1, 4]}
    assert len(quantization.samples(two_inputs(), quantization.read_files(tmp_path, shapes))) == 1
    np.save(tmp_path / "q" / "1.npy", np.ones((1, 4), np.float32))
    with pytest.raises(InputError, match="1 files for 'p', 2 files for 'q'"):
        quantization.read_files(tmp_path, shapes)


def test_images(tmp_path):
    pixels = np.zeros((4, 4, 3), np.uint8)
    pixels[..., 0], pixels[..., 1] = 255, 51
    Image.fromarray(pixels).save(tmp_path / "red.png")
    reader = quantization.read_files(tmp_path, {"x": [1, 3, 8, 8]}, mean=(0.5, 0.2, 0.0), std=(0.5, 1.0, 1.0))
    (feed,) = quantization.samples(cnn(), reader)
    assert feed["x"].shape == (1, 3, 8, 8)
    np.testing.assert_allclose(feed["x"][0, :, 3, 3], [1.0, 0.0, 0.0], atol=1e-6)


def test_folders_that_cannot_be_used(tmp_path):
    shapes = {"x": [1, 3, 8, 8]}
    with pytest.raises(InputError, match="No such file or directory"):
        quantization.read_files(tmp_path / "missing", shapes)
    with pytest.raises(InputError, match=r"no \.npy files and no images"):
        quantization.read_files(tmp_path, shapes)
    (tmp_path / "broken.png").write_bytes(b"no image")
    with pytest.raises(InputError, match=r"broken\.png: not an image"):
        all_of(quantization.read_files(tmp_path, shapes))
    with pytest.raises(InputError, match=r"the input has shape \(1, 4\); an image is read for"):
        all_of(quantization.read_files(tmp_path, {"x": [1, 4]}))


def test_synthetic_values_depend_on_seed_and_name_alone():
    first, second = (all_of(quantization.synthetic_reader(two_inputs(), count=2)) for _ in range(2))
    assert all(np.array_equal(a[name], b[name]) for a, b in zip(first, second, strict=True) for name in "pq")
    assert not np.array_equal(first[0]["p"], first[0]["q"])
    assert not np.array_equal(first[0]["p"], all_of(quantization.synthetic_reader(two_inputs(), seed=1))[0]["p"])


def test_synthetic_integers_are_in_range():
    model = two_inputs()
    for value, element in zip(model.graph.input, (2, 7), strict=True):  # uint8, int64
        value.type.tensor_type.elem_type = element
    feed = quantization.synthetic_reader(model).get_next()
    assert feed["p"].dtype == np.uint8
    assert set(np.unique(feed["q"])) <= {0, 1}

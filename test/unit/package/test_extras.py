# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optional packages that are missing, and versions that are not tested."""

import sys
import warnings

import pytest

import torq_mlir
from torq_mlir import MissingPackageError, TorqError, UntestedVersionWarning, extras


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Puts a distribution of this version before what is installed."""

    def install(name: str, version: str) -> None:
        folder = tmp_path / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")

    monkeypatch.syspath_prepend(tmp_path)
    extras.warn_untested.cache_clear()
    yield install
    extras.warn_untested.cache_clear()


def test_require_gives_modules():
    image = extras.require("PIL.Image", "images")
    assert image is sys.modules["PIL.Image"]
    assert extras.require(("PIL.Image", "PIL"), "images") == (image, sys.modules["PIL"])


@pytest.mark.parametrize(
    ("module", "extra", "packages"),
    [
        ("torch.export", "torch", "torch is"),
        ("iree.compiler", "iree", "iree-base-compiler and iree-base-runtime are"),
        ("PIL.Image", "images", "pillow is"),
    ],
)
def test_a_missing_package_is_named_with_the_extra(monkeypatch, module, extra, packages):
    names = packages.rpartition(" ")[0].split(" and ")
    version = extras.installed_version
    monkeypatch.setattr(extras, "installed_version", lambda name: None if name in names else version(name))
    monkeypatch.setitem(sys.modules, module, None)  # which is how Python marks what cannot be imported
    with pytest.raises(MissingPackageError) as caught:
        extras.require(module, extra)
    assert isinstance(caught.value, TorqError)
    assert isinstance(caught.value, ImportError)
    assert str(caught.value) == f"{packages} not installed; pip install 'torq-mlir[{extra}]'"


def test_a_package_that_does_not_work_is_no_missing_package(tmp_path, monkeypatch):
    (tmp_path / "broken.py").write_text("raise ImportError('libsomething.so: cannot open shared object file')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingPackageError, match=r"^libsomething\.so: cannot open shared object file; pip install"):
        extras.require("broken", "images")


def test_an_exported_program_needs_pytorch(tmp_path, monkeypatch):
    (tmp_path / "model.pt2").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "torch.export", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'torq-mlir\[torch\]'$"):
        torq_mlir.compile(tmp_path / "model.pt2")


@pytest.mark.parametrize("name", ["torch", "onnx", "iree-base-compiler", "iree-base-runtime"])
def test_an_untested_version_warns_once(install, name):
    install(name, "999.1")
    with pytest.warns(UntestedVersionWarning, match=rf"^{name} 999\.1 is not tested with torq-mlir") as caught:
        extras.warn_untested(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        extras.warn_untested(name)
    assert len(caught) == 1


def test_the_versions_of_this_environment_are_tested():
    names = {each.name for extra in extras.extras() for each in extras.requirements(extra)}
    extras.warn_untested.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in names:
            extras.warn_untested(name)


def test_compile_warns_of_an_untested_onnx(install):
    install("onnx", "999.1")
    with pytest.warns(UntestedVersionWarning, match="^onnx 999"), pytest.raises(torq_mlir.ModelError):
        torq_mlir.compile(b"no model")

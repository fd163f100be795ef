# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torq-gen-config view` and `torq-gen-config edit`: output, messages and exit codes."""

import dataclasses
import os

import pytest
from sample_reports import cnn_report

from torq_mlir.gen_config import files
from torq_mlir.tools import torq_gen_config


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "torq_gen_config_cnn.json"
    files.write_report(file, cnn_report())
    return file


@pytest.fixture
def run(capsys):
    """Exit code, standard output and standard error of a command."""

    def run(*arguments):
        try:
            code = torq_gen_config.main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code
        return code, *capsys.readouterr()

    return run


def test_view(run, path):
    code, output, errors = run("view", path, "Conv", "--executors", "nss,host")
    assert (code, errors) == (0, "")
    assert output.splitlines()[3].split()[:6] == ["#", "layer", "operator", "nss", "host", "use"]
    assert [line.split()[1] for line in output.splitlines()[4:6]] == ["Conv_0", "Conv_2"]


def test_page(run, path, tmp_path):
    page = tmp_path / "report.html"
    assert run("view", path, "--html", page) == (0, f"{page}\n", "")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "code", "errors"),
    [
        (["--fail-on", "error"], 3, ["torq-gen-config view: GlobalLpPool_4: error on every executor"]),
        (["GlobalLp", "--fail-on", "error"], 3, ["torq-gen-config view: GlobalLpPool_4: error on every executor"]),
        (["Conv", "Gemm", "--fail-on", "error"], 0, []),
        (["--fail-on", "error", "--executors", "host"], 3, ["Conv_2: error on host", "GlobalLpPool_4: error on host"]),
    ],
)
def test_exit_codes_for_ci(run, path, arguments, code, errors):
    found, _, text = run("view", path, *arguments)
    assert found == code
    assert all(error in line for error, line in zip(errors, text.splitlines(), strict=True))


def test_nothing_to_fail_on(run, path):
    good = dataclasses.replace(cnn_report(), layers=cnn_report().layers[:4], run=None)
    files.write_report(path, good)
    code, _, errors = run("view", path, "--fail-on", "difference")
    assert (code, errors) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["view", "{folder}/missing.json"], "missing.json: No such file or directory"),
        (["view", "{folder}"], "Is a directory"),
        (["view", "{report}", "Pool_9"], "no layer of cnn is called 'Pool_9', contains or matches it"),
        (["view", "{report}", "--html", "{folder}/none/page.html"], "none/page.html: No such file or directory"),
        (["view", "{report}", "Conv", "--html", "{folder}/page.html"], "--html writes a page of all layers"),
        (["view", "{compiler}"], "this is the compiler file, which `run` writes anew; give the report instead"),
        (["edit", "{compiler}", "ALL", "--executor", "nss"], "this is the compiler file, which `run` writes anew"),
        (["edit", "{report}", "ALL"], "nothing to change: give --executor, --max-lsb"),
        (["edit", "{report}", "Conv", "--max-lsb=-1"], "max_lsb is -1.0, but cannot be below 0"),
        (
            ["edit", "{report}", "Conv9", "--executor", "css"],
            "no layer of cnn is called 'Conv9', contains or matches it",
        ),
    ],
)
def test_one_line_for_a_mistake(run, path, tmp_path, arguments, message):
    compiler = tmp_path / "torq_gen_config_cnn_compiler.json"
    report = cnn_report()
    files.write_compiler_file(compiler, files.CompilerFile(report.model, report.flags, {"12:5": "nss"}))
    names = {"folder": tmp_path, "report": path, "compiler": compiler}
    code, output, errors = run(*(argument.format(**names) for argument in arguments))
    assert (code, output) == (1, "")
    assert message in errors
    assert len(errors.splitlines()) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_without_write_permission(run, path, tmp_path):
    tmp_path.chmod(0o500)
    code, output, errors = run("edit", path, "ALL", "--executor", "css")
    assert (code, output, len(errors.splitlines())) == (1, "", 1)


@pytest.mark.parametrize(
    "arguments", [["--executor", "gpu"], ["--max-lsb", "many"], ["--status", "good"], ["--executors", "nss,gpu"]]
)
def test_wrong_options(run, path, arguments):
    command = "view" if arguments[0] in ("--status", "--executors") else "edit"
    code, output, errors = run(command, path, "ALL", *arguments)
    assert (code, output) == (2, "")
    assert arguments[0] in errors


def test_edit(run, path):
    files.write_report(path, dataclasses.replace(cnn_report(), run=None))
    dry = run("edit", path, "Gemm", "--executor", "css", "--dry-run")
    assert dry == (0, "Gemm_6: executor host -> css\nnothing was written (--dry-run)\n", "")
    assert run("edit", path, "Gemm", "--executor", "css") == (0, "Gemm_6: executor host -> css\n", "")
    assert run("edit", path, "Gemm", "--executor", "css") == (0, "nothing changes\n", "")
    assert run("edit", path, "Gemm", "--executor", "null")[1] == "Gemm_6: executor css -> null\n"
    assert files.read_report(path).layer("Gemm_6").recommended_executor is None
    assert run("edit", path, "*", "--max-lsb", "5")[1].count("max_lsb 1 -> 5") == 7

# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The extension under Model Explorer itself, which `make test-full` installs: it is of hundreds of megabytes."""

import json
import re
import subprocess
import sys
import urllib.parse
import urllib.request

import pytest
from graph_reading import CONTROL_FLOW, ORACLE, read

from torq_mlir.extras import require

pytestmark = pytest.mark.slow

MODEL = ORACLE / "cnn_residual.onnx"


@pytest.fixture
def server():
    """The address of a server that shows a model."""
    (portpicker,) = require(("portpicker",), "explorer")
    port = str(portpicker.pick_unused_port())
    command = [sys.executable, "-u", "-m", "torq_mlir.explorer", str(MODEL), "--errors", "--no-browser", "--port", port]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            lines = iter(process.stdout.readline, "")
            yield next(line.strip() for line in lines if line.startswith("http://"))
        finally:
            process.terminate()


def get(address: str, path: str, **arguments: str) -> dict:
    query = urllib.parse.urlencode(arguments)
    with urllib.request.urlopen(f"{re.match('http://[^/]*', address)[0]}/api/v1/{path}?{query}") as response:
        return json.load(response)


def convert(address: str, path: object) -> dict:
    command = {"cmdId": "convert", "extensionId": "torq_mlir", "modelPath": str(path), "settings": {}}
    return get(address, "send_command", json=json.dumps(command | {"deleteAfterConversion": False}))


def test_the_server_shows_models_and_modules(server, tmp_path):
    shown = json.loads(urllib.parse.unquote(server.partition("?data=")[2]))
    assert shown["models"] == [{"url": str(MODEL), "adapterId": "torq_mlir"}]
    (collection,) = convert(server, MODEL)["graphCollections"]
    graphs = read(collection)
    assert list(graphs) == ["torq-hl", "linalg", "torch", "onnx"]
    names = []
    for index in range(len(shown["nodeData"])):
        data = json.loads(get(server, "load_node_data", node_data_index=str(index))["content"])
        assert data["torq-hl"]["results"].keys() <= graphs["torq-hl"].keys()
        names.append(data["torq-hl"]["name"])
    assert names == ["executor", "error"]
    path = tmp_path / "module.mlir"
    path.write_text(CONTROL_FLOW)
    (collection,) = convert(server, path)["graphCollections"]
    assert list(read(collection)) == ["pair", "main"]
    path.write_text("func.func @f() {")
    assert convert(server, path)["error"].startswith(f"CompileError: {path}: not a module of MLIR: ")
    assert convert(server, MODEL)["graphCollections"], "the server does not survive a wrong file"


def test_graphs_are_of_the_form_that_model_explorer_defines():
    from torq_mlir import explorer

    dacite, graph_builder = require(("dacite", "model_explorer.graph_builder"), "explorer")
    for graph in explorer.from_file(MODEL)["graphs"]:
        read_back = dacite.from_dict(graph_builder.Graph, graph, dacite.Config(strict=True))
        assert [node.id for node in read_back.nodes] == [node["id"] for node in graph["nodes"]]

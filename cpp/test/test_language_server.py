# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Language servers over their protocol, as an editor speaks it."""

import json
import re
import subprocess
from pathlib import Path

import mlir
import pytest

ROOT = Path(__file__).parents[2]
URI = "file:///model.mlir"
TEXT = """\
func.func @main(%x: tensor<4xi8>, %i: tensor<4xi8>) -> tensor<4xi8> {
  %0 = "torq_hl.identity"(%i, %x) : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}
"""
INVALID = TEXT.replace("-> tensor<4xi8>\n  return %0 : tensor<4xi8>", "-> tensor<5xi8>\n  return %x : tensor<4xi8>")


def request(method, number=None, **parameters):
    return {"jsonrpc": "2.0", **({} if number is None else {"id": number}), "method": method, "params": parameters}


def session(command, *messages):
    """The messages that the server sends."""
    opening = [request("initialize", 0, processId=None, rootUri=None, capabilities={}), request("initialized")]
    closing = [request("shutdown", 99), request("exit")]
    encoded = [json.dumps(message).encode() for message in (*opening, *messages, *closing)]
    sent = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(message), message) for message in encoded)
    received = subprocess.run(command, input=sent, capture_output=True, timeout=120, check=True).stdout
    answers = []
    while header := re.match(rb"Content-Length: (\d+)\r\n(?:[^\r\n]+\r\n)*\r\n", received):
        end = header.end() + int(header[1])
        answers.append(json.loads(received[header.end() : end]))
        received = received[end:]
    assert not received
    return answers


def opened(text, uri=URI, language="mlir"):
    document = {"uri": uri, "languageId": language, "version": 1, "text": text}
    return request("textDocument/didOpen", textDocument=document)


@pytest.fixture(scope="module")
def server(prefix):
    return [prefix / "bin" / "torq-lsp-server"]


def diagnostics(answers):
    return [
        diagnostic
        for answer in answers
        if answer.get("method") == "textDocument/publishDiagnostics"
        for diagnostic in answer["params"]["diagnostics"]
    ]


def test_fault_is_shown_where_it_is(server):
    (fault,) = diagnostics(session(server, opened(INVALID)))
    assert fault["message"] == (
        "'torq_hl.identity' op result #0 ('output') must have the inferred shape 4, but got 'tensor<5xi8>'"
    )
    assert fault["range"]["start"]["line"] == 1
    assert fault["severity"] == 1


def test_types_of_torch_are_accepted(server):
    operation = '"quantized_decomposed.choose_qparams_per_token"(%x) {dtype = si8}'
    results = "(!torch.vtensor<[4,1],f32>, !torch.vtensor<[4,1],f32>)"
    text = f"""\
func.func @main(%x: !torch.vtensor<[4,8],f32>) -> {results} {{
  %0:2 = {operation} : (!torch.vtensor<[4,8],f32>) -> {results}
  return %0#0, %0#1 : !torch.vtensor<[4,1],f32>, !torch.vtensor<[4,1],f32>
}}
"""
    assert diagnostics(session(server, opened(text))) == []
    (fault,) = diagnostics(session(server, opened(text.replace("[4,1]", "[8,1]"))))
    assert "must have the inferred shape 4x1" in fault["message"]


def test_hover_and_definition(server):
    on_operation = {"textDocument": {"uri": URI}, "position": {"line": 1, "character": 10}}
    on_use = {"textDocument": {"uri": URI}, "position": {"line": 2, "character": 10}}
    answers = session(
        server,
        opened(TEXT),
        request("textDocument/hover", 1, **on_operation),
        request("textDocument/definition", 2, **on_use),
    )
    assert diagnostics(answers) == []
    results = {answer["id"]: answer.get("result") for answer in answers if "id" in answer}
    assert "torq_hl.identity" in results[1]["contents"]["value"]
    assert results[2][0]["range"]["start"] == {"line": 1, "character": 2}


def test_definitions_in_the_server_for_tablegen(build):
    database = build / "tablegen_compile_commands.yml"
    server = Path(next(iter(mlir.__path__))) / "bin" / "tblgen-lsp-server"
    path = ROOT / "dialects" / "TorqHL" / "TorqHLOps.td"
    message = opened(path.read_text(), path.as_uri(), "tablegen")
    assert diagnostics(session([server, f"--tablegen-compilation-database={database}"], message)) == []
    without = diagnostics(session([server], message))
    assert any("could not find include file" in each["message"].lower() for each in without)

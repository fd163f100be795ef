# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A report as one HTML page that needs nothing else: no network, no other file."""

import base64
import hashlib
from pathlib import Path

import jinja2
import markupsafe

from torq_mlir.gen_config.files import Report
from torq_mlir.gen_config.page.charts import histogram
from torq_mlir.gen_config.page.content import page_content

_FOLDER = Path(__file__).parent


def render_page(report: Report, folder: Path | None = None) -> str:
    """The page as text.

    Args:
      folder: of the report, where the files with IR are that it names.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = ((_FOLDER / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    return environment.get_template("report.html.jinja").render(
        page_content(report, folder),
        histogram=histogram,
        # Nothing but these two may style or run, whatever the names in a model contain.
        style=markupsafe.Markup(style),
        script=markupsafe.Markup(script),
        style_hash=_integrity(style),
        script_hash=_integrity(script),
    )


def _integrity(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

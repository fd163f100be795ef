# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the suite is expected to do, as a file, and as a page of the documentation.

The file `refused.json` has the number of tests of each kind and, by name, why a test is refused. All others pass. A
test that is refused and not in the file, one in the file that passes, and any other outcome are failures of a run.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from e2e.onnx_suite.suite import Outcome, Status

_FOLDER = Path(__file__).parent
FILE = _FOLDER / "refused.json"
PAGE = _FOLDER.parents[1] / "docs" / "onnx-backend.md"
_BEGIN, _END = "<!-- outcomes -->", "<!-- end of outcomes -->"

# What a reason is about, in words of the page; the first one that matches counts.
_CAUSES = {
    r"element type string": "strings",
    r"only tensors are supported|is not a tensor|sequence|Optional": "sequences, maps and optional values",
    r"control flow": "subgraphs whose course is not known before the model runs",
    r"imports 0 versions|the operator is not supported": "operators outside of the ONNX and com.microsoft domains",
    r"no lowering": "forms of operators that torch-mlir does not lower",
    r"not known|cannot be inferred|dynamic": "shapes that depend on values",
}
_OTHER = "forms that are known to be lowered wrongly, or not at all"


@dataclass(frozen=True)
class Record:
    """Expected outcomes.

    Attributes:
      onnx: version of the package that has the tests.
      counts: number of tests, by kind.
      refused: reasons, by name of the test.
    """

    onnx: str
    counts: Mapping[str, int]
    refused: Mapping[str, str]

    @classmethod
    def of(cls, onnx: str, outcomes: Sequence[Outcome]) -> "Record":
        """What a run of all tests shows."""
        refused = {each.name: each.reason for each in outcomes if each.status is Status.REFUSED}
        counts = Counter(_kind(each.name) for each in outcomes)
        return cls(onnx, dict(sorted(counts.items())), dict(sorted(refused.items())))

    def updated(self, other: "Record", names: Sequence[str]) -> "Record":
        """This record, with what another one has of some tests."""
        refused = {name: reason for name, reason in self.refused.items() if name not in names} | dict(other.refused)
        return Record(self.onnx, self.counts, dict(sorted(refused.items())))

    @classmethod
    def read(cls, path: Path = FILE) -> "Record":
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    def write(self, path: Path = FILE) -> None:
        """Write the file."""
        path.write_text(json.dumps(vars(self), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    def unexpected(self, outcomes: Sequence[Outcome]) -> list[str]:
        """What is wrong with the outcomes, a line for each."""
        lines = []
        for each in outcomes:
            if each.status is Status.PASS and each.name in self.refused:
                lines.append(f"{each.name}: passes, and is expected to be refused")
            elif each.status is Status.REFUSED and each.name not in self.refused:
                lines.append(f"{each.name}: refused: {each.reason}")
            elif each.status not in (Status.PASS, Status.REFUSED):
                lines.append(f"{each.name}: {each.status.value}: {each.reason}")
        return lines

    def tables(self) -> str:
        """The outcomes as Markdown."""
        refused = Counter(map(_kind, self.refused))
        rows = [(kind, count, count - refused[kind], refused[kind]) for kind, count in self.counts.items()]
        total = [sum(column) for column in zip(*(row[1:] for row in rows), strict=True)]
        kinds = _table(("tests", "number", "pass", "refused"), [*rows, ("all", *total)])
        causes = Counter(map(_cause, self.refused.values()))
        reasons = _table(("refused because of", "tests"), causes.most_common())
        return "\n\n".join((f"Of the tests of onnx {self.onnx}:", kinds, reasons, self._operators()))

    def _operators(self) -> str:
        """The operators that reasons name, with the number of tests."""
        operators = Counter(
            match[1] for text in self.refused.values() if (match := re.search(r" \(([\w.]+)\): ", text))
        )
        listed = ", ".join(f"`{name}` {count}" for name, count in sorted(operators.items()))
        return f"Operators that errors name, with the number of tests: {listed}."


def _kind(name: str) -> str:
    return name.partition("/")[0]


def _cause(reason: str) -> str:
    return next((cause for pattern, cause in _CAUSES.items() if re.search(pattern, reason)), _OTHER)


def _table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def page_with(record: Record, page: str) -> str:
    """The page with the outcomes of a record in place of those that it has."""
    before, _, rest = page.partition(_BEGIN)
    after = rest.partition(_END)[2]
    return f"{before}{_BEGIN}\n\n{record.tables()}\n\n{_END}{after}"

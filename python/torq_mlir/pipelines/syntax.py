# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of pass pipelines, as MLIR writes them.

    pipeline ::= anchor `(` [element (`,` element)*] `)`
    element  ::= pipeline | pass [`{` options `}`]

An anchor is the name of the op that the pipeline runs on, or `any`.
"""

from dataclasses import dataclass, replace


class PipelineSyntaxError(ValueError):
    """A pipeline that cannot be run as it is written.

    Attributes:
      text: the pipeline.
      position: offset of the reason in `text`.
      reason: what is wrong.
    """

    def __init__(self, text: str, position: int, reason: str):
        super().__init__(text, position, reason)
        self.text, self.position, self.reason = text, position, reason

    def __str__(self) -> str:
        start = self.text.rfind("\n", 0, self.position) + 1
        line = self.text[start:].partition("\n")[0]
        column = self.position - start
        number = self.text.count("\n", 0, self.position) + 1
        return f"pass pipeline:{number}:{column + 1}: error: {self.reason}\n{line}\n{' ' * column}^"


@dataclass(frozen=True)
class PassText:
    """A pass, or a pipeline by its name, with the text of its options; None where there are no braces."""

    name: str
    options: str | None = None
    position: int = 0

    def __str__(self) -> str:
        return self.name if self.options is None else f"{self.name}{{{self.options}}}"

    def with_options(self, *options: str) -> "PassText":
        """The same with more options, each as `name=value`."""
        return replace(self, options=" ".join([*([self.options] if self.options else []), *options]) or None)


@dataclass(frozen=True)
class PipelineText:
    """Elements that run in order on each op named `anchor`."""

    anchor: str
    elements: tuple["PassText | PipelineText", ...]
    position: int = 0

    def __str__(self) -> str:
        return f"{self.anchor}({','.join(map(str, self.elements))})"


def parse(text: str) -> PipelineText:
    """Parses a pipeline with its outermost anchor.

    Raises:
      PipelineSyntaxError: names the position in `text`.
    """
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str):
        self._text = text
        self._position = 0

    def parse(self) -> PipelineText:
        element = self._element()
        if not isinstance(element, PipelineText):
            reason = "expected pass pipeline to be wrapped with the anchor operation type, e.g. 'builtin.module(...)'"
            raise PipelineSyntaxError(self._text, element.position, reason)
        if self._peek() == ")":
            raise self._error("encountered extra closing ')' creating unbalanced parentheses")
        if self._peek():
            raise self._error("expected the end of the pipeline")
        return element

    def _error(self, reason: str, position: int | None = None) -> PipelineSyntaxError:
        return PipelineSyntaxError(self._text, self._position if position is None else position, reason)

    def _peek(self) -> str:
        """The next character that is no space; the empty string at the end."""
        while self._position < len(self._text) and self._text[self._position].isspace():
            self._position += 1
        return self._text[self._position : self._position + 1]

    def _element(self) -> PassText | PipelineText:
        self._peek()
        position = self._position
        name = self._name()
        if self._peek() == "(":
            return PipelineText(name, self._elements(), position)
        if self._peek() == "{":
            return PassText(name, self._options(), position)
        return PassText(name, None, position)

    def _name(self) -> str:
        start = self._position
        while self._position < len(self._text) and self._text[self._position] not in "(){},":
            self._position += 1
        name = self._text[start : self._position].rstrip()
        if not name:
            raise self._error("expected the name of a pass or an operation", start)
        if any(character.isspace() for character in name):
            raise self._error(f"'{name}' does not refer to a registered pass or pass pipeline", start)
        return name

    def _elements(self) -> tuple[PassText | PipelineText, ...]:
        opening = self._position
        self._position += 1
        if self._peek() == ")":
            self._position += 1
            return ()
        elements = [self._element()]
        while self._peek() == ",":
            self._position += 1
            elements.append(self._element())
        if not self._peek():
            raise self._error("missing the ')' that closes this pipeline", opening)
        if self._peek() != ")":
            raise self._error("expected ',' after parsing pipeline")
        self._position += 1
        return tuple(elements)

    def _options(self) -> str:
        """The text up to the matching brace; braces nest."""
        opening = self._position
        depth = 0
        for position in range(opening, len(self._text)):
            depth += {"{": 1, "}": -1}.get(self._text[position], 0)
            if depth == 0:
                self._position = position + 1
                return self._text[opening + 1 : position].strip()
        raise self._error("missing closing '}' while processing pass options", opening)

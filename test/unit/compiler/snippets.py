# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""IR that a page shows shortened, and the whole of it."""


def missing_part(snippet: str, printed: str) -> str | None:
    """The first part between `...` that is not in the text after the ones before it; line breaks do not matter."""
    printed, position = " ".join(printed.split()), 0
    for part in " ".join(snippet.split()).split("..."):
        found = printed.find(part.strip(), position)
        if found < 0:
            return part.strip()
        position = found + len(part.strip())
    return None

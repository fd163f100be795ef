# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The option --version."""

import argparse


def add(parser: argparse.ArgumentParser) -> None:
    """Add the option to a parser."""
    parser.add_argument("--version", action=_Version, nargs=0, help="print the versions of the packages and exit")


class _Version(argparse.Action):
    """Prints the versions, which are looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from torq_mlir import versions

        print(versions())
        parser.exit()

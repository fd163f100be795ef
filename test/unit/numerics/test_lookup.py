# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of 256 entries."""

import numpy as np
import pytest

from torq_mlir.numerics.lookup import line_table, power_of_two_table, step_table


def entries(words):
    """Slopes and bases."""
    return words >> 16, words.astype(np.int16).astype(np.int64)


def test_step_table_rounds_to_even_and_saturates():
    values = np.zeros(256)
    values[:6] = [0.5, 1.5, -2.5, 40000.0, -40000.0, -1.0]
    slopes, bases = entries(step_table(values))
    assert bases[:7].tolist() == [0, 2, -2, 32767, -32768, -1, 0]
    assert not slopes.any()


def test_line_table_meets_the_next_entry():
    values = 1000 * np.sin(np.linspace(0, 3, 257))
    slopes, bases = entries(line_table(values))
    assert bases.tolist() == np.rint(values[:-1]).astype(int).tolist()
    assert (bases + slopes).tolist() == np.rint(values[1:]).astype(int).tolist()


def test_line_table_refuses_jumps():
    values = np.zeros(257)
    values[10], values[11] = -30000, 30000
    with pytest.raises(ValueError, match="differ by more than 16 bits"):
        line_table(values)


@pytest.mark.parametrize("bits", [range(14, 25), range(1, 31), range(9, 31)])
def test_powers_of_two_by_the_leading_bit(bits):
    """The minimum over tables that see 8 bits each is the power for the leading bit of the whole integer."""
    exponents = {bit: min(14, (30 - bit) // 2) for bit in bits}
    tables = {low: power_of_two_table(low, exponents) for low in range(bits.start, bits.stop, 8)}
    generator = np.random.default_rng(0)
    for bit in bits:
        for value in [1 << bit, (1 << (bit + 1)) - 1, *generator.integers(1 << bit, 1 << (bit + 1), 5).tolist()]:
            seen = min(entries(table)[1][min(value >> low, 255)] for low, table in tables.items())
            assert seen == 1 << exponents[bit]

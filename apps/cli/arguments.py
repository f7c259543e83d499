"""Types of command-line options, with a sentence for wrong values."""

from __future__ import annotations

from argparse import ArgumentTypeError


def whole(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ArgumentTypeError(f"'{text}' is not a whole number from 0")
    return int(text)


def whole_from_one(text: str) -> int:
    if whole(text) < 1:
        raise ArgumentTypeError(f"'{text}' is not a whole number from 1")
    return int(text)


def amount(text: str) -> float:
    """A number from 0, without infinity and NaN."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ArgumentTypeError(f"'{text}' is not a number from 0")
    return value


def share(text: str) -> float:
    """A share between 0 and 1, both excluded."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise ArgumentTypeError(f"'{text}' is not a share between 0 and 1, such as 0.95")
    return value

"""Ids of imported files."""

import io
import sys

import pytest

from apps.common.errors import InputError
from apps.common.files.tables import Fields
from apps.common.files.tabular import TableFile


def outside_id(value: str) -> str:
    return Fields(TableFile("f", io.BytesIO()), 1, {"id": value}).outside_id("id")


def test_every_blank_is_refused_and_no_letter():
    for letter in map(chr, range(sys.maxunicode + 1)):
        if letter.isspace():
            assert letter == " " or not letter.isprintable()
    for value in ("a b", "a\tb", "a\u00a0b", "a\u2028b", "a\u3000b", "a\x7fb", "a\u200bb"):
        with pytest.raises(InputError, match="must not contain blanks or control characters"):
            outside_id(value)
    assert outside_id("sec-4.2/ß語") == "sec-4.2/ß語"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "is missing"),
        ({"id": None}, "is empty"),
        ({"id": " "}, "is empty"),
        ({"id": 7}, "must be text"),
        ({"id": "a" * 201}, "is longer than 200 characters"),
    ],
)
def test_what_is_no_id_is_named(values, said):
    with pytest.raises(InputError, match=said):
        Fields(TableFile("f", io.BytesIO()), 1, values).outside_id("id")

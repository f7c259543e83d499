import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.metrics.files.packed.decimals import decimals, wholes
from apps.metrics.files.packed.ids import Ids

FORMS = st.from_regex(r"[0-9]{0,16}(\.[0-9]{0,15})?", fullmatch=True).filter(lambda text: 0 < len(text) <= 16)


def read(*texts: str) -> list[float | None]:
    """What the texts, sixteen bytes at most each, are read as; None where they cannot be read."""
    words = Ids.of([*texts, "0" * 16]).words[:-1]
    values, can = decimals(words, np.array([len(text.encode()) for text in texts]))
    return [value if able else None for value, able in zip(values.tolist(), can.tolist(), strict=True)]


@given(st.lists(FORMS, min_size=1, max_size=20))
def test_a_decimal_is_the_double_nearest_to_what_is_written(texts):
    digits = [text.replace(".", "") for text in texts]

    assert read(*texts) == [
        float(text) if 0 < len(number) <= 15 else None for text, number in zip(texts, digits, strict=True)
    ]


@pytest.mark.parametrize(
    "text", ["0.1", "123456.789012", "999999999999999", ".5", "5.", "0", "00012", "12345678.1234567"]
)
def test_forms_of_decimals(text):
    assert read(text) == [float(text)]


@pytest.mark.parametrize("text", [".", "1.2.3", "1e5", "-1", "+1", "1_0", "٣", "1:", "/1", "1234567890123456"])
def test_whatever_else_is_not_read(text):
    assert read(text) == [None]


@given(st.lists(st.text("0123456789:/.-a", min_size=1, max_size=8), min_size=1))
def test_whole_numbers_are_digits_alone(texts):
    values, can = wholes(Ids.of(texts).words[:, 0], np.array([len(text) for text in texts]))

    assert can.tolist() == [text.isdigit() for text in texts]
    assert [value for value, able in zip(values.tolist(), can, strict=True) if able] == [
        int(text) for text in texts if text.isdigit()
    ]

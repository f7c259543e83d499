import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.metrics.files.packed_fields import decimals, same_decimals, wholes
from apps.metrics.vocabulary import Ids

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


FILLER = b" " * 17
"""The shortest text before a number whose words of eight bytes are read from its end."""


def read_alike(texts: list[str]) -> list[float] | None:
    """What numbers with the same decimals are read as, each after a filler."""
    packed = b"".join(FILLER + text.encode() for text in texts)
    sizes = np.array([len(text) for text in texts])
    values = same_decimals(packed, np.cumsum(sizes + len(FILLER)), sizes)
    return None if values is None else values.tolist()


@given(st.integers(0, 7), st.lists(st.integers(0, 10**15 - 1), min_size=1, max_size=20))
def test_decimals_of_one_length_are_the_doubles_nearest_to_what_is_written(after, wholes):
    digits = [f"{whole:0{after + 1}}" for whole in wholes]
    texts = [f"{number[:-after]}.{number[-after:]}" if after else number for number in digits]

    assert read_alike(texts) == [float(text) for text in texts]


@pytest.mark.parametrize("texts", [[".50", "1.25"], ["0.0"], ["007.5", "12345678901234.5"]])
def test_forms_of_decimals_of_one_length(texts):
    assert read_alike(texts) == [float(text) for text in texts]


@pytest.mark.parametrize(
    "other", ["1.5", "1.250", "125", "-1.25", "+1.25", "1.2e", "1..2", "1.2.34", "١.25", "12345678901234.25", "1:25"]
)
def test_decimals_of_another_form_are_left_to_the_reader_of_all_forms(other):
    assert read_alike(["1.25", other]) is None
    assert read_alike([other, "1.25"]) is None


def test_a_number_too_near_to_the_beginning_is_left_to_it_too():
    assert same_decimals(b"1.25", np.array([4]), np.array([4])) is None


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

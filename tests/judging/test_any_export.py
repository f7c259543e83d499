"""Whatever an export of another tool contains, reading it gives rows, mistakes or a sentence, and nothing else."""

import io
import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.judging.formats.recognition import TOOLS, opener_of, recognise
from tests.judging.test_argilla import FLAT, OLD, SAVED
from tests.judging.test_doccano import ANA
from tests.judging.test_label_studio import TASKS, minimal
from tests.judging.test_quepid import BOOK, CASE, RRE
from tests.walks import often

EXPORTS = [BOOK, CASE, RRE, TASKS, [minimal(relevance="Relevant")], ANA, SAVED, [FLAT], [OLD]]
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.just(1.5),
    st.sampled_from(["", " ", "left", "a\tb", "é"]),
    st.just([]),
    st.just({}),
    st.just([None, 3, "x"]),
    st.just({"value": {"choices": 3}}),
    st.just([[1, 2, "X"]]),
    st.just([{"value": None, "user_id": None}]),
)


def changed(value, draw, chance: int):
    """The value with odd ones in some places, and some fields left out."""
    if draw(st.integers(0, chance)) == 0:
        return draw(ODD)
    if isinstance(value, dict):
        return {key: changed(one, draw, chance) for key, one in value.items() if draw(st.integers(0, 3 * chance))}
    if isinstance(value, list):
        return [changed(one, draw, chance) for one in value]
    return value


@st.composite
def exports(draw):
    value = changed(draw(st.sampled_from(EXPORTS)), draw, draw(st.integers(5, 60)))
    if isinstance(value, list) and draw(st.booleans()):
        return "".join(f"{json.dumps(one)}\n" for one in value)
    return json.dumps(value)


@pytest.mark.parametrize("tool", sorted(TOOLS))
@given(text=exports())
@settings(max_examples=often(25, 150), deadline=None)
def test_any_export_is_rows_or_mistakes(tool, text):
    errors = ErrorList()
    source = TableFile("export.json", io.BytesIO(text.encode()))

    with suppress(InputError):
        table = opener_of(tool)(source, errors)
        rows = list(table.rows)
        assert {len(cells) for _, cells in rows} <= {len(table.headings)}
        assert all(isinstance(cell, str) for _, cells in rows for cell in cells)
        assert set(table.known) <= set(table.headings)


@given(text=exports())
@settings(max_examples=often(25, 150), deadline=None)
def test_any_export_is_recognised_as_something(text):
    source = TableFile("export.json", io.BytesIO(text.encode()))

    with suppress(InputError):
        assert recognise(source)

"""Every key in a row, and nothing else, becomes the one here."""

import pytest

from apps.audit.core.numbering import Numbering
from apps.backups.core.kinds import Kind
from apps.backups.core.renumbering import renumbered
from apps.backups.core.rows import Column, Table

NUMBERING = Numbering({"runs": 100, "pairs": 1000}, {7: 3})
TABLE = Table(
    "pairs",
    "id",
    (
        Column("id", Kind.INTEGER),
        Column("run_id", Kind.INTEGER),
        Column("by_id", Kind.INTEGER),
        Column("rank", Kind.INTEGER),
        Column("reached", Kind.INTEGER),
        Column("plan", Kind.JSON),
    ),
)


def row(*, run: int | None = 1, reached: int = 0, plan: object = None) -> list:
    change = renumbered(
        TABLE,
        NUMBERING,
        references={"run_id": "runs", "by_id": "accounts_user"},
        ways={
            "reached": {"": ("pairs",)},
            "plan": {
                ".run": ("runs",),
                ".runs[]": ("runs",),
                ".found[][0]": ("runs",),
                ".seen[].by": ("runs",),
                ".badge": ("badges",),
            },
        },
    )
    return change([5, run, 7, 2, reached, [plan]])


def test_its_own_key_and_those_of_rows_and_people_that_it_names():
    assert row() == [1005, 101, 3, 2, 0, [None]]


def test_a_reference_to_nothing_stays_one():
    assert row(run=None)[1] is None


def test_a_number_that_is_no_key_yet_stays_as_it_is():
    assert row(reached=0)[4] == 0
    assert row(reached=1)[4] == 1001


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ({"run": 1, "depth": 1}, {"run": 101, "depth": 1}),
        ({"run": "1"}, {"run": "101"}),
        ({"run": "0"}, {"run": "0"}),
        ({"run": -1}, {"run": -1}),
        ({"run": None}, {"run": None}),
        ({"run": True}, {"run": True}),
        ({"runs": [1, 2]}, {"runs": [101, 102]}),
        ({"runs": 3}, {"runs": 3}),
        ({"found": [[1, 1], [2, 5]]}, {"found": [[101, 1], [102, 5]]}),
        ({"found": [[]]}, {"found": [[]]}),
        ({"seen": [{"by": 1, "at": 1}, {}]}, {"seen": [{"by": 101, "at": 1}, {}]}),
        ({"badge": 7}, {"badge": 0}),
        ([1, 2], [1, 2]),
    ],
)
def test_keys_in_json_are_found_by_their_ways(there, here):
    assert row(plan=there)[5] == [here]


def test_the_key_of_a_person_who_did_not_come_along_is_refused():
    change = renumbered(TABLE, NUMBERING, references={"by_id": "accounts_user"}, ways={})

    with pytest.raises(KeyError):
        change([5, 1, 99, 2, 0, None])

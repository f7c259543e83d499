"""What is counted of a log, against counting it by hand."""

import random
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from apps.common.files.tabular import open_source
from apps.queries.core.masking import Names
from apps.querylogs.core.columns import CONVERSATION, OBJECT, PERSON, RESULTS, TEXT, TIME
from apps.querylogs.core.sampling import OUTCOMES
from apps.querylogs.execution.reading import AGAIN_SECONDS, Codes, Reading, read_log
from apps.querylogs.formats.logs import open_log
from tests.querylogs.factories import as_csv

COLUMNS = [TEXT, PERSON, TIME, RESULTS, OBJECT, CONVERSATION]
START = 1_785_834_720


def rows_of(number: int, *, seed: int = 1, named: float = 0.9, clicks: float = 0.4) -> list[list[str]]:
    """Searches of thirty people for twenty queries; some name nobody, no time, or no number of results."""
    chance = random.Random(seed)

    def or_none(value: str, share: float) -> str:
        return value if chance.random() < share else ""

    return [
        [
            f"query {chance.randrange(20)}",
            or_none(f"u{chance.randrange(30)}", named),
            or_none(str(START + place * 20 + chance.randrange(9)), 0.9),
            or_none(str(chance.choice([0, 0, 3, 40])), 0.8),
            or_none(f"doc{chance.randrange(6)}", clicks),
            or_none(f"c{chance.randrange(9)}", 0.5),
        ]
        for place in range(number)
    ]


def log_in(folder: Path, rows: list[list[str]]) -> Path:
    path = folder / "log.csv"
    path.write_bytes(as_csv(rows, ["query", "user", "time", "hits", "clicked", "conversation"]))
    return path


def read(path: Path) -> tuple[Reading, Codes]:
    codes = Codes(Names())
    with open_source(path) as source:
        return read_log(open_log(source), COLUMNS, codes), codes


@pytest.mark.parametrize(("named", "clicks"), [(0.9, 0.4), (0.0, 0.4), (1.0, 0.0)])
@pytest.mark.parametrize("seed", range(3))
def test_queries_are_counted_as_by_hand(tmp_path, seed, named, clicks):
    rows = rows_of(400, seed=seed, named=named, clicks=clicks)
    counted, codes = read(log_in(tmp_path, rows))
    found = {
        code: {name: int(getattr(counted.groups, name)[place]) for name in counted.groups._fields}
        for place, code in enumerate(counted.groups.codes.tolist())
    }
    texts = list(dict.fromkeys(row[0] for row in rows))
    assert list(found) == [codes.masked(text)[1] for text in texts], "in the order of their first search"
    for text in texts:
        own = [row for row in rows if row[0] == text]
        told, people, again = found[codes.masked(text)[1]], people_of(own), searched_again(rows, text)
        nothing, known = sum(row[3] == "0" for row in own), sum(row[3] != "" for row in own)
        times = [int(row[2]) for row in own if row[2]]
        assert told["searches"] == len(own)
        assert told["people"] == max(1, len(people))
        assert (told["nothing"], told["again"]) == (nothing, len(again))
        assert told["clicks"] == sum(row[4] != "" for row in own)
        assert (told["first"], told["last"]) == (min(times), max(times))
        is_again = again and 2 * len(again) >= len(people)
        outcome = "nothing" if known and nothing * 2 >= known else "again" if is_again else "found"
        assert OUTCOMES[told["outcomes"]] == outcome
        clicked = defaultdict(set)
        for row in own:
            if row[4]:
                clicked[codes.of(row[4])].add(row[1])
        place = list(found).index(codes.masked(text)[1])
        assert dict(counted.kept.clicks_on(place)) == {code: len(by) for code, by in clicked.items()}


def people_of(rows: list[list[str]]) -> set[str]:
    return {row[1] for row in rows if row[1]}


def searched_again(rows: list[list[str]], text: str) -> set[str]:
    """Who searched for something else within two minutes of a search for this, and for nothing in between."""
    found = set()
    for person in people_of(rows):
        own = sorted((int(row[2]), place) for place, row in enumerate(rows) if row[1] == person and row[2])
        for (time, place), (later, other) in pairwise(own):
            if rows[place][0] == text != rows[other][0] and later - time <= AGAIN_SECONDS:
                found.add(person)
    return found


def test_conversations_are_told_by_time(tmp_path):
    rows = rows_of(300)
    counted, codes = read(log_in(tmp_path, rows))
    by_hand = defaultdict(list)
    for place, row in enumerate(rows):
        if row[5]:
            by_hand[row[5]].append((int(row[2] or 0), place, codes.masked(row[0])[1]))
    told = [[int(counted.groups.codes[query]) for query, _ in one] for one in counted.kept.conversations()]
    assert sorted(told) == sorted([code for *_, code in sorted(one)] for one in by_hand.values())

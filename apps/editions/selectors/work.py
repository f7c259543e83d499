"""What taking an edition comes to: the grades that come along, and the pairs that people judge."""

from collections.abc import Mapping
from typing import NamedTuple

from apps.corpus.selectors.corpora import TextKey
from apps.editions.core.comparison import likely_pairs
from apps.editions.enums import KEEPS_ITS_TEXT, ChangeKind, Choice
from apps.editions.selectors.editions import Edition
from apps.editions.selectors.usage import Usage


class PairInNew(NamedTuple):
    """A query and a passage of the new edition; with the grade it would get, and the old passage it comes from."""

    query_id: int
    name: str
    grade: int | None = None
    origin: str = ""
    kind: ChangeKind = ChangeKind.NEW


class Work(NamedTuple):
    """The pairs of an edition. Those of texts that stay as they are need nothing, and are only counted.

    `carried` have no grade of their own yet, `again` and `new` are for people to judge. A pair that was judged on the
    new text already, in whichever round, is in none of them.
    """

    kept: int
    carried: list[PairInNew]
    again: list[PairInNew]
    new: list[PairInNew]
    gone: int

    @property
    def along(self) -> int:
        """All grades that the new edition has."""
        return self.kept + len(self.carried)

    @property
    def to_judge(self) -> list[PairInNew]:
        return [*self.again, *self.new]


def work_of(edition: Edition, usage: Usage, choices: Mapping[int, Choice]) -> Work:
    """The work under these choices for changed passages, by old block version."""
    kept = gone = 0
    carried: list[PairInNew] = []
    again: list[PairInNew] = []
    moving = {
        edition.old_of(change).version_id: change
        for change in edition.changes
        if change.kind in {ChangeKind.RENAMED, ChangeKind.CHANGED}
    }
    texts = _text_keys(edition)
    for version, grades in usage.grades.items():
        kind = edition.kinds.get(version, ChangeKind.SAME)
        if kind == ChangeKind.GONE:
            gone += len(grades)
        elif version not in moving:
            kept += len(grades)
        else:
            change = moving[version]
            assert change.before is not None
            is_carried = kind in KEEPS_ITS_TEXT or choices[version] == Choice.CARRY
            for query, grade in grades.items():
                if (query, texts.get(change.name)) in usage.settled:
                    kept += 1
                elif is_carried:
                    carried.append(PairInNew(query, change.name, grade, change.before.name, kind))
                else:
                    again.append(PairInNew(query, change.name, kind=kind))
    return Work(kept, sorted(carried), sorted(again), _new_pairs(edition, usage, texts), gone)


def _text_keys(edition: Edition) -> dict[str, TextKey]:
    """The text of each changed or renamed passage of the new edition, where its block exists already."""
    blocks = {name: passage.block_id for name, passage in edition.old.items()}
    blocks |= {name: passage.block_id for name, passage in edition.new.items()}
    return {
        change.name: TextKey(blocks[change.name], change.after.text)
        for change in edition.changes
        if change.after is not None and change.name in blocks
    }


def _new_pairs(edition: Edition, usage: Usage, texts: Mapping[str, TextKey]) -> list[PairInNew]:
    names = [change.name for change in edition.of(ChangeKind.NEW)]
    if not names:
        return []
    judged = usage.queries
    queries = {pk: text for pk, text in usage.live.items() if pk in judged}
    passages = {name: f"{new.title} {new.text}" for name, new in edition.new_texts(names).items()}
    pairs = likely_pairs(queries, passages)
    return [PairInNew(*pair) for pair in pairs if (pair[0], texts.get(pair[1])) not in usage.settled]

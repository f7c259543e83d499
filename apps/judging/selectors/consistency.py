"""How steady people's grades are: the same pair twice, and pairs whose grade is known. None of it is exported."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import OuterRef, Subquery

from apps.accounts.models import User
from apps.judging.models import KnownAnswer, Round
from apps.judging.selectors.pairs import live_judgements

FIRST, CHECK = 1, 0


class Repeat(NamedTuple):
    """A pair that came back to the same person, blindly: what they said first, and again. None: can't judge."""

    person_id: int
    entry_id: int
    first: int | None
    again: int | None

    @property
    def is_alike(self) -> bool:
        """True when both answers are the same."""
        return self.first == self.again


class CheckResult(NamedTuple):
    """One answer to a pair whose grade is known. `given` is None for "can't judge"."""

    person: User
    entry_id: int
    query_id: int
    known: int
    given: int | None

    @property
    def is_right(self) -> bool:
        """True when the answer is the known grade."""
        return self.known == self.given


class Steadiness(NamedTuple):
    """Of the pairs a person met twice, those graded alike; of the checks they met, those they got right."""

    repeats: int = 0
    alike: int = 0
    checks: int = 0
    right: int = 0


def repeats(round_: Round) -> list[Repeat]:
    """The pairs that somebody judged twice in the round, in the order in which they came back."""
    live = live_judgements(round_)
    first = live.filter(annotator=OuterRef("annotator"), entry=OuterRef("entry"), pass_number=FIRST)
    again = live.filter(pass_number__gt=FIRST).annotate(first=Subquery(first.values("grade")[:1]))
    rows = again.order_by("seat__due_after", "pk").values_list("annotator_id", "entry_id", "first", "grade")
    return [Repeat(*row) for row in rows]


def check_results(round_: Round) -> list[CheckResult]:
    """Everybody's answers to the round's known pairs, by name, in the order in which they were given."""
    known = dict(KnownAnswer.objects.filter(round=round_).values_list("entry", "grade"))
    given = live_judgements(round_).filter(pass_number=CHECK).select_related("annotator", "entry")
    rows = given.order_by("annotator__name", "annotator", "pk")
    return [
        CheckResult(row.annotator, row.entry_id, row.entry.query_id, known[row.entry_id], row.grade) for row in rows
    ]


def steadiness(round_: Round) -> dict[int, Steadiness]:
    """How steady each person was who met a pair twice or a check, by the person's id."""
    met, alike = _counted((each.person_id, each.is_alike) for each in repeats(round_))
    checks, right = _counted((each.person.pk, each.is_right) for each in check_results(round_))
    return {pk: Steadiness(met[pk], alike[pk], checks[pk], right[pk]) for pk in {*met, *checks}}


def _counted(answers: Iterable[tuple[int, bool]]) -> tuple[Counter[int], Counter[int]]:
    """How many answers each person gave, and how many of them hit."""
    given: Counter[int] = Counter()
    hits: Counter[int] = Counter()
    for person, is_hit in answers:
        given[person] += 1
        hits[person] += is_hit
    return given, hits

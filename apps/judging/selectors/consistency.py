"""Consistency of people's grades: repeated pairs and checks. None of it is exported."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import OuterRef, Subquery

from apps.accounts.models import User
from apps.judging.models import KnownAnswer, Round
from apps.judging.selectors.pairs import live_judgements

FIRST, CHECK = 1, 0


class Repeat(NamedTuple):
    """A pair that the same person judged twice, blindly: the first answer, and the second. None: can't judge."""

    person_id: int
    entry_id: int
    first: int | None
    again: int | None

    @property
    def is_alike(self) -> bool:
        """Whether both answers are the same."""
        return self.first == self.again


class CheckResult(NamedTuple):
    """One answer to a check. `given` is None for "can't judge"."""

    person: User
    entry_id: int
    query_id: int
    known: int
    given: int | None

    @property
    def is_right(self) -> bool:
        """Whether the answer is the known grade."""
        return self.known == self.given


class Steadiness(NamedTuple):
    """Of a person's repeated pairs, those graded alike; of their checks, those they got right."""

    repeats: int = 0
    alike: int = 0
    checks: int = 0
    right: int = 0


def repeats(round_: Round) -> list[Repeat]:
    """The pairs that somebody judged twice in the round, in the order of the second grade."""
    live = live_judgements(round_)
    first = live.filter(annotator=OuterRef("annotator"), entry=OuterRef("entry"), pass_number=FIRST)
    second = live.filter(pass_number__gt=FIRST).annotate(first=Subquery(first.values("grade")[:1]))
    rows = second.order_by("seat__due_after", "pk").values_list("annotator_id", "entry_id", "first", "grade")
    return [Repeat(*row) for row in rows]


def check_results(round_: Round) -> list[CheckResult]:
    """Everybody's answers to the round's checks, by name, in the order in which they were given."""
    known = KnownAnswer.objects.filter(round=round_, entry=OuterRef("entry")).values("grade")[:1]
    answers = live_judgements(round_).filter(pass_number=CHECK).annotate(known=Subquery(known))
    rows = answers.select_related("annotator", "entry").order_by("annotator__name", "annotator", "pk")
    return [CheckResult(row.annotator, row.entry_id, row.entry.query_id, row.known, row.grade) for row in rows]


def steadiness(round_: Round) -> dict[int, Steadiness]:
    """The consistency of each person who has a repeated pair or a check, by the person's id."""
    met, alike = _counted((each.person_id, each.is_alike) for each in repeats(round_))
    checks, right = _counted((each.person.pk, each.is_right) for each in check_results(round_))
    return {pk: Steadiness(met[pk], alike[pk], checks[pk], right[pk]) for pk in {*met, *checks}}


def _counted(answers: Iterable[tuple[int, bool]]) -> tuple[Counter[int], Counter[int]]:
    """How many answers each person gave, and how many of them were right."""
    counts: Counter[int] = Counter()
    hits: Counter[int] = Counter()
    for person, is_hit in answers:
        counts[person] += 1
        hits[person] += is_hit
    return counts, hits

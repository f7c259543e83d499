"""What a rule gives pairs without a judge: those whose text was judged before, and trivial disagreements.

And what uses a round.
"""

from collections.abc import Callable, Collection, Iterable
from enum import StrEnum
from typing import NamedTuple

from django.db.models import Exists, OuterRef, Q

from apps.accounts.models import User
from apps.common.digests import digest_of_lines
from apps.corpus.selectors.corpora import TextKey, texts_of
from apps.judging.core.resolution import ResolutionRule, settled_by
from apps.judging.enums import ErrorType, RoundKind, RoundState
from apps.judging.models import Adjudication, Judgement, KeptPair, KnownAnswer, Round
from apps.judging.selectors.deciding import adjudicable
from apps.judging.selectors.pairs import JudgedPair, pairs_of
from apps.retrieval.core.pooling import Representative
from apps.retrieval.core.sampling import SAME
from apps.retrieval.models import Pool, PoolEntry, PoolQuery

DependentCheck = Callable[[Round], str | None]
"""What of another app uses the grades of a round, as a sentence with what to do; None for nothing."""

BESIDE = "beside"
"""In the plan of an imported round, the rounds whose grades stand in it beside those of its file, by key."""
_checks: list[DependentCheck] = []


def add_dependent_check(check: DependentCheck) -> DependentCheck:
    """Register what of an app above may use the grades of a round."""
    if check not in _checks:
        _checks.append(check)
    return check


def first_dependent(round_: Round) -> str | None:
    """The first of what uses the grades of a closed round, as a sentence; None when nothing does."""
    return next((reason for check in [*_checks, _work, _rounds] if (reason := check(round_))), None)


def _work(round_: Round) -> str | None:
    """Decisions that people made on its pairs since. Those that came with the grades have no type of error."""
    decided = Adjudication.objects.filter(round=round_).exclude(error_type=ErrorType.NOT_RECORDED)
    if number := decided.values("entry").distinct().count():
        pairs = f"{number:,} of its pairs"
        return f"A lead has decided {pairs} since, and decisions are not undone."
    return None


def _rounds(round_: Round) -> str | None:
    """Other rounds that left pairs out, checked people or carried grades over because of this one."""
    if other := Round.objects.filter(pool=round_.pool_id).exclude(pk=round_.pk).order_by("number").first():
        return f"{other.name} is a round on the same pairs."
    imported = Round.objects.in_force().filter(project=round_.project_id, kind=RoundKind.IMPORTED, plan__isnull=False)
    for other in imported.order_by("number"):
        if round_.pk in (other.plan or {}).get(BESIDE, []):
            return f"{other.name} has a second opinion beside its grades. Undo that import first."
    opening = Round.objects.filter(state=RoundState.OPENING, pool__snapshot__corpus=round_.pool.snapshot.corpus_id)
    if other := opening.order_by("number").first():
        return f"{other.name} is being opened, and reads which pairs have a grade. Wait until it is open."
    kept_pairs = KeptPair.objects.filter(kept_from=round_).select_related("round").order_by("round__number")
    if kept := kept_pairs.first():
        return f"{kept.round.name} left pairs out because they have a grade here, and nobody else judges them."
    named = Q(origin=f"decided in {round_.name}") | Q(origin=f"all alike in {round_.name}")
    checks = KnownAnswer.objects.filter(named, round__project=round_.project_id, round__number__gt=round_.number)
    if check := checks.select_related("round").order_by("round__number").first():
        return f"{check.round.name} checks people against its grades."
    queries = PoolQuery.objects.filter(pool=round_.pool_id).values("query")
    carried = Round.objects.filter(
        kind=RoundKind.PROPAGATED,
        number__gt=round_.number,
        pool__snapshot__corpus=round_.pool.snapshot.corpus_id,
        pool__pool_queries__query__in=queries,
    )
    if other := carried.order_by("number").first():
        return f"{other.name} has carried grades over since, for the same queries."
    return None


AT_ONCE = 5_000

Key = tuple[int, int]
"""A query and a block version."""


class CarryRule(StrEnum):
    """To which texts a grade is carried over. A lead chooses; none applies by itself."""

    EXACT = "exact"
    NEAR = "near"


class Carried(NamedTuple):
    """A pair, the block version that was judged for it, and the grade and the subtopics it would get."""

    entry: PoolEntry
    judged: int
    is_exact: bool
    grade: int
    facets: list[str] | None = None


class Carry(NamedTuple):
    """What can be carried over in a pool now: first the exact texts, then the near ones; and what can't.

    `unsettled` have no grade yet on the text judged for them, `done` have that grade already, and `own` were judged
    themselves, which takes precedence.
    """

    exact: list[Carried]
    near: list[Carried]
    unsettled: int
    done: int
    own: int

    def under(self, rule: CarryRule) -> list[Carried]:
        """The pairs that the rule gives a grade."""
        return self.exact if rule is CarryRule.EXACT else [*self.exact, *self.near]


def carry_of(pool: Pool) -> Carry:
    """What can be carried over in this pool. Only closed rounds count: grades of open ones may still change."""
    entries = list(PoolEntry.objects.filter(pool=pool, sampled__how=SAME).select_related("query").order_by("pk"))
    with_text = [(entry, _judged_text(entry)) for entry in entries]
    grades = _settled(pool, {(entry.query_id, text.text) for entry, text in with_text})
    carried = _carried(pool)
    judged = _judged_themselves(pool)
    pending = []
    unsettled = done = 0
    for entry, text in with_text:
        grade, facets = grades.get((entry.query_id, text.text), (None, None))
        if entry.pk in judged:
            continue
        if grade is None:
            unsettled += 1
        elif carried.get(entry.pk) == grade:
            done += 1
        else:
            pending.append(Carried(entry, text.text, text.is_exact, grade, facets))
    exact, near = [each for each in pending if each.is_exact], [each for each in pending if not each.is_exact]
    return Carry(exact, near, unsettled, done, own=len(judged))


def _judged_text(entry: PoolEntry) -> Representative:
    sampled = entry.sampled or {}
    return Representative(sampled["as"], sampled["exact"])


def _settled(pool: Pool, wanted: Collection[Key]) -> dict[Key, tuple[int, list[str] | None]]:
    """Settled grades and subtopics of these pairs in the closed rounds on the pool's texts; the latest round counts."""
    entries: dict[int, dict[int, Key]] = {}
    for pk, of_pool, key in _entries_of(pool, wanted):
        entries.setdefault(of_pool, {})[pk] = key
    rounds = (
        Round.objects.in_force().filter(pool__in=entries, state=RoundState.CLOSED).exclude(kind=RoundKind.PROPAGATED)
    )
    found: dict[Key, JudgedPair] = {}
    for round_ in rounds.order_by("number"):
        own = entries[round_.pool_id]
        for part in _parts(sorted(own)):
            found.update({own[pair.entry_id]: pair for pair in pairs_of(round_, part)})
    return {key: (grade, pair.facets) for key, pair in found.items() if (grade := pair.resolved.grade) is not None}


def _entries_of(pool: Pool, wanted: Collection[Key]) -> Iterable[tuple[int, int, Key]]:
    """Key and pool of the entries of these pairs, in whichever pool of the corpus on the same text, and the pair."""
    texts = texts_of(version for _, version in wanted)
    pairs = {(query, texts[version]): (query, version) for query, version in wanted}
    for part in _parts(sorted({query for query, _ in wanted})):
        rows = PoolEntry.objects.filter(pool__snapshot__corpus=pool.snapshot.corpus_id, query__in=part)
        named = rows.values_list("pk", "pool_id", "query_id", "version__block_id", "version__text_digest")
        for pk, of_pool, query, block, digest in named.iterator(chunk_size=AT_ONCE):
            if (pair := pairs.get((query, TextKey(block, digest)))) is not None:
                yield pk, of_pool, pair


def _carried(pool: Pool) -> dict[int, int]:
    """The grade that the latest carrying over gave each pair of the pool."""
    rows = Judgement.objects.filter(round__pool=pool, round__kind=RoundKind.PROPAGATED, grade__isnull=False)
    grades = rows.order_by("round__number").values_list("entry_id", "grade")
    return {entry: grade for entry, grade in grades if grade is not None}


def _judged_themselves(pool: Pool) -> set[int]:
    """The pairs that are the same as another's text but were judged themselves, in any round on these texts."""
    judgements = Judgement.objects.filter(
        pass_number=1,
        round__withdrawn_at=None,
        entry__query=OuterRef("query"),
        entry__version__block=OuterRef("version__block"),
        entry__version__text_digest=OuterRef("version__text_digest"),
    ).exclude(round__kind=RoundKind.PROPAGATED)
    rows = PoolEntry.objects.filter(Exists(judgements), pool=pool, sampled__how=SAME)
    return set(rows.values_list("pk", flat=True))


def _parts(keys: list[int]) -> Iterable[list[int]]:
    return (keys[start : start + 500] for start in range(0, len(keys), 500))


MOST_AT_ONCE = 2_000


class Trivial(NamedTuple):
    """An undecided pair, and the grade that the rule gives it."""

    pair: JudgedPair
    grade: int


def rule_of(round_: Round) -> ResolutionRule:
    """The rule chosen when the round was planned; the majority where none was."""
    try:
        return ResolutionRule((round_.plan or {}).get("rule", ResolutionRule.MAJORITY))
    except ValueError:
        return ResolutionRule.MAJORITY


def rules_for(round_: Round) -> list[ResolutionRule]:
    """The rule that the round was planned with, or every rule that a lead can choose."""
    choosable = [ResolutionRule.NEAR_MEDIAN, ResolutionRule.LOWER]
    planned = rule_of(round_)
    return [planned] if planned in choosable else choosable


def trivial(round_: Round, user: User, rule: ResolutionRule) -> list[Trivial]:
    """The pairs that this lead may settle by the rule at once, in the order of the list; at most 2,000."""
    return trivial_among(adjudicable(round_, user), rule)[:MOST_AT_ONCE]


def trivial_among(pairs: Iterable[JudgedPair], rule: ResolutionRule) -> list[Trivial]:
    """Those of the pairs that the rule settles."""
    settled = ((pair, settled_by(rule, pair.answers)) for pair in pairs)
    return [Trivial(pair, grade) for pair, grade in settled if grade is not None]


def mark_of(pairs: Iterable[Trivial]) -> str:
    """A digest of exactly these pairs, their answers and their grades: only what a lead was shown is settled."""
    return digest_of_lines(f"{each.pair.entry_id}\t{each.pair.answers}\t{each.grade}" for each in pairs)

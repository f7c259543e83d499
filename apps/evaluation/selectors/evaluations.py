"""Reads of evaluations, of the grades behind them, and of what a version can be scored on; each scoped to a project."""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Count, Exists, OuterRef, Prefetch, QuerySet
from django.http import Http404
from numpy.typing import NDArray

from apps.accounts.models import Project
from apps.accounts.selectors import policy
from apps.agreement.selectors.agreement import live_grades
from apps.common.database.batched_reads import BatchedRead, CountOf, ListOf, answer_to, is_known, once
from apps.common.database.statements import LARGEST_KEY
from apps.common.text.wording import plural
from apps.corpus.selectors.corpora import TextKey, texts_of
from apps.evaluation.core import packing
from apps.evaluation.core.annotator_grades import GivenGrades, given_on
from apps.evaluation.models import (
    ClosedComparison,
    Evaluation,
    RegressionNote,
    Score,
    tells_of_single_items,
    test_items,
)
from apps.evaluation.selectors.rankings import AT_ONCE, ScoringGround
from apps.goldsets.core.splits import originals_of
from apps.goldsets.enums import Split
from apps.goldsets.models import Slice, Version, VersionGrade, VersionQuery, VersionTriple
from apps.goldsets.selectors.slices import items_in, slice_named
from apps.metrics.comparison import is_lower_better
from apps.metrics.expected.rules import BY_GRADES, counts_questions
from apps.queries.core.naming import VARIANT_OF
from apps.retrieval.models import Pool, Run
from apps.retrieval.selectors.runs import complete_runs_on


def given_in(version: Version, ground: ScoringGround) -> GivenGrades:
    """The current grades of each person who judged in the version's rounds, for the pairs of one split.

    Anonymous judgements and check passes do not count. For a pair that a person judged in two rounds, the later grade
    counts.
    """
    released = VersionGrade.objects.filter(version=version)
    entries = released.values_list("block_version__block_id", "block_version__text_digest", "position").distinct()
    positions = {TextKey(block, digest): position for block, digest, position in entries.iterator(chunk_size=AT_ONCE)}
    judgements = live_grades(version.gold_set.project, version.rounds.all())
    rows = list(judgements.values_list("annotator_id", "entry__query_id", "entry__version_id", "grade"))
    texts = texts_of(text for _, _, text, _ in rows)
    table = np.array(
        [
            (person, ground.numbers[query], positions[texts[text]], grade)
            for person, query, text, grade in rows
            if query in ground.numbers and texts[text] in positions
        ],
        dtype=np.int64,
    ).reshape(-1, 4)
    person, query, block, grade = (table[:, column].copy() for column in range(4))
    return given_on(ground.judged, person, query, block, grade)


class SlicePart(NamedTuple):
    """A slice as it was when it had `size` questions."""

    slice: Slice
    size: int

    @property
    def words(self) -> str:
        """ "canary slice, 16 questions"."""
        questions = plural(self.size, "question")
        return f"{self.slice.words[0].lower()}{self.slice.words[1:]} slice, {questions}"


def part_named(version: Version, name: str) -> SlicePart | None:
    """A slice of the version as it is now, by its kind or its quarter."""
    found = slice_named(version, name)
    return SlicePart(found, found.questions) if found else None


def part_of(evaluation: Evaluation) -> SlicePart | None:
    """The slice that an evaluation is on; None for one on a whole split."""
    if evaluation.slice is None or evaluation.slice_size is None:
        return None
    return SlicePart(evaluation.slice, evaluation.slice_size)


def names_of(evaluation: Evaluation) -> set[str] | None:
    """What an evaluation on a slice is of: outside ids, or labels of triples; None for one on a whole split."""
    part = part_of(evaluation)
    return items_in(part.slice, part.size, by_triples=evaluation.counts_questions) if part else None


def evaluations_in(project: Project) -> QuerySet[Evaluation]:
    """The project's evaluations on whole splits, newest first, with their scores but without values by query."""
    return _related(Evaluation.objects.filter(project=project))


def _related(evaluations: QuerySet[Evaluation], *, with_values: bool = False) -> QuerySet[Evaluation]:
    evaluations = evaluations.select_related(
        "project", "run__system", "version__gold_set", "version__snapshot__corpus", "slice", "job", "requested_by"
    )
    scores = Score.objects.order_by("order")
    scores = scores if with_values else scores.defer("values")
    return evaluations.prefetch_related(Prefetch("scores", queryset=scores)).order_by("-pk")


def on_ground(
    version: Version, split: str, hit: str = BY_GRADES, part: SlicePart | None = None
) -> QuerySet[Evaluation]:
    """The evaluations that can be compared with each other: of one split, by one rule, on one slice or on all."""
    slice_, size = part or (None, None)
    return Evaluation.everything.filter(version=version, split=split, hit=hit, slice=slice_, slice_size=size)


class Requested(NamedTuple):
    """An evaluation in short: its run with its tag, and the measures that were asked for."""

    pk: int
    run_id: int
    tag: str
    measures: list[str]
    is_scored: bool


def requested_on(version: Version, split: str, hit: str = BY_GRADES, part: SlicePart | None = None) -> list[Requested]:
    """Every evaluation on one split or slice of the version by this rule, scored or not, oldest first.

    In one statement, and once for all parts of a page.
    """
    columns = ("pk", "run_id", "run__tag", "measures", "scored_at")
    rows = on_ground(version, split, hit, part).order_by("pk").values_list(*columns)
    key = ("requested", version.pk, split, hit, part and (part.slice.pk, part.size))
    return once(key, lambda: [Requested(pk, run, tag, names, at is not None) for pk, run, tag, names, at in rows])


MOST_OF_A_REQUEST = 200


class LastAsked(NamedTuple):
    """What was scored last on a version by a rule, on any split: the runs, and the measures; nothing at first."""

    runs: list[int]
    measures: list[str]


def last_asked(version: Version, hit: str) -> LastAsked:
    """The runs of one request have one time."""
    asked = Evaluation.everything.filter(version=version, hit=hit).order_by("-requested_at", "pk")
    rows = list(asked.values_list("requested_at", "run_id", "measures")[:MOST_OF_A_REQUEST])
    latest = [row for row in rows if row[0] == rows[0][0]]
    return LastAsked([run for _, run, _ in latest], latest[0][2] if latest else [])


def in_progress(requested: Sequence[Requested], most: int) -> list[Evaluation]:
    """Those that are not scored yet, newest first, at most so many, each with its job."""
    keys = sorted((one.pk for one in requested if not one.is_scored), reverse=True)[:most]
    return list(Evaluation.everything.filter(pk__in=keys).select_related("job").order_by("-pk")) if keys else []


def every_evaluation_in(project: Project) -> QuerySet[Evaluation]:
    """As `evaluations_in`, with those on slices."""
    return _related(Evaluation.everything.filter(project=project))


def evaluation_in(project: Project, pk: int) -> Evaluation:
    """An evaluation of the project, on a slice or not. Raises Http404."""
    evaluation = every_evaluation_in(project).filter(pk=pk).first()
    if evaluation is None:
        raise Http404("No such evaluation.")
    return evaluation


def evaluations_with_values(project: Project, *pks: int) -> list[Evaluation]:
    """These evaluations of the project, in this order, each score with its values by query. Raises Http404."""
    if max(pks) > LARGEST_KEY:  # which no database can look for in a list
        raise Http404("No such evaluation.")
    rows = _related(Evaluation.everything.filter(project=project, pk__in=pks), with_values=True)
    rows = rows.select_related("version__gold_set__project", "version__snapshot__corpus__project")
    found = {row.pk: row for row in rows}
    if not found.keys() >= set(pks):
        raise Http404("No such evaluation.")
    return [found[pk] for pk in pks]


def evaluations_on(
    version: Version, split: str, hit: str = BY_GRADES, part: SlicePart | None = None
) -> QuerySet[Evaluation]:
    """All evaluations of one split or slice of a version by grades or a hit rule, scored or not, newest first.

    Without the ids of their queries.
    """
    return _related(on_ground(version, split, hit, part)).defer("query_ids")


def latest_by_rule(like: Evaluation, run_ids: Sequence[int]) -> dict[tuple[str, int], Evaluation]:
    """By hit rule and run the latest scored evaluation on the same questions as `like`; "" is by grades.

    Each score has its values.
    """
    rows = Evaluation.everything.filter(version=like.version_id, split=like.split, run__in=run_ids)
    rows = rows.filter(slice=like.slice_id, slice_size=like.slice_size).exclude(scored_at=None)
    return {(one.hit, one.run_id): one for one in reversed(list(_related(rows, with_values=True)))}


def evaluations_of(version: Version) -> QuerySet[Evaluation]:
    """All evaluations of whole splits of a version, as `evaluations_on` has those of one split."""
    return _related(Evaluation.objects.filter(version=version)).defer("query_ids")


def other_evaluations(evaluation: Evaluation) -> list[Evaluation]:
    """The run's evaluations on other versions, splits and by other rules, the newest version first.

    Each by its latest scores.
    """
    rows = Evaluation.everything.filter(run=evaluation.run_id).exclude(scored_at=None)
    rows = rows.select_related("version__gold_set", "slice").defer("query_ids", "counts")
    own_key = _place(evaluation)
    latest = {_place(row): row for row in rows.order_by("pk")}
    others = [row for place, row in latest.items() if place != own_key]
    return sorted(others, key=lambda row: (-row.version_id, row.split, row.hit, row.slice_id or 0))


def _place(evaluation: Evaluation) -> tuple[int, str, str, int | None]:
    return evaluation.version_id, evaluation.split, evaluation.hit, evaluation.slice_id


def values_of(evaluation: Evaluation) -> dict[str, NDArray[np.float64]]:
    """Each measure's values by query, in the order of `evaluation.query_ids`; read unless they came with it."""
    scores: Iterable[Score] = evaluation.scores.all()
    if any("values" in score.get_deferred_fields() for score in scores):
        scores = Score.objects.filter(evaluation=evaluation)
    return {score.measure: packing.unpack(bytes(score.values)) for score in sorted(scores, key=attrgetter("order"))}


RANKS_ONLY = (
    "A pool of this version had a budget of pairs, and what it left out counts as not relevant: these figures put the"
    " pooled runs in order. As values they can be far off (AP by 0.1 and more), and a run that was not pooled looks"
    " worse."
)


EVERY_JUDGED = (
    "Every passage of the snapshot has a grade for every query of this version: nothing relevant can be missing, and"
    " recall is no estimate."
)


def pooling_words(version: Version, hit: str) -> str:
    """What figures by grades are worth where a pool of the version had a budget, or where every passage was judged.

    "" for other pools. Whether every passage was judged is counted in the version's own grades.
    """
    if counts_questions(hit):
        return ""
    counts = version.manifest.get("counts", {})
    if counts.get("grades") and counts["grades"] == counts["queries"] * version.snapshot.block_count:
        return EVERY_JUDGED
    return RANKS_ONLY if grounds_of(version).has_budget else ""


def originals_in(evaluation: Evaluation) -> NDArray[np.int64] | None:
    """A number for each of `evaluation.query_ids`, the same for a question and its variants; None where none varies."""
    if evaluation.counts_questions:
        return None
    variants = once(("variants", evaluation.version_id), lambda: list(_variants_in(evaluation.version_id)))
    facts = {name: fields["metadata"] for name, fields in variants}
    return originals_of({name: facts.get(name, {}) for name in evaluation.query_ids})


def _variants_in(version: int) -> QuerySet[VersionQuery, tuple[str, Any]]:
    rows = VersionQuery.objects.filter(version=version, fields__metadata__has_key=VARIANT_OF)
    return rows.values_list("outside_id", "fields")


def variants_question(version: Version) -> BatchedRead[None]:
    """What `originals_in` reads of the version, in a larger statement."""
    asked = {"rows": ListOf(_variants_in(version.pk), json={"fields"})}
    return BatchedRead(asked, lambda found: is_known(("variants", version.pk), found["rows"]))


def ranks_by_system(scored: QuerySet[Evaluation], label: str, *, most: int) -> list[tuple[str, int]]:
    """The rank of the first hit of one triple by each system, from 1; 0 for none. At most so many, newest first.

    Of the evaluations by triples of a system, which are scored, its newest counts, if it has the triple.
    """
    newer = scored.filter(run__system=OuterRef("evaluation__run__system"), pk__gt=OuterRef("evaluation"))
    newest = Score.objects.filter(~Exists(newer), evaluation__in=scored, measure="RR").order_by("-evaluation")
    columns = newest.values_list("evaluation__run__system__name", "evaluation__query_ids", "values")
    return [
        (system, _rank_at(packing.unpack(bytes(packed))[labels.index(label)]))
        for system, labels, packed in columns[:most]
        if label in labels
    ]


def _rank_at(reciprocal: float) -> int:
    return round(1 / reciprocal) if reciprocal else 0


def scorable_runs(version: Version, hit: str = BY_GRADES) -> list[Run]:
    """Complete runs on the version's snapshot; for the grades of returned blocks those that return such alone."""
    return [run for run in complete_runs_on(version.snapshot) if hit or not run.returns_passages]


def notes_on(baseline: Evaluation, candidate: Evaluation, measure: str) -> dict[str, RegressionNote]:
    """Decisions on drops between two evaluations, by outside id of the query."""
    notes = RegressionNote.objects.filter(baseline=baseline, candidate=candidate, measure=measure)
    return {note.query_id_text: note for note in notes.select_related("decided_by", "pool")}


def closed(baseline: Evaluation, candidate: Evaluation, measure: str) -> ClosedComparison | None:
    """The record of the closing of this comparison by the measure, if any."""
    records = ClosedComparison.objects.filter(baseline=baseline, candidate=candidate, measure=measure)
    return records.select_related("closed_by").first()


class Tries(NamedTuple):
    """How many evaluations were scored on a split by one rule, and how many of them are published."""

    published: int
    all: int

    @property
    def words(self) -> str:
        return f"{self.published:,} of {plural(self.all, 'try', 'tries')} published"


class Ladder(NamedTuple):
    """What was scored on a split with test items, by one rule: the run of each evaluation, by key.

    `step` is by how much a score has to beat the best published one to be published too; None: all are. They are
    compared by `measure`, the first of the evaluation that was published first; "" before that.
    """

    step: float | None
    measure: str
    published: dict[int, int]
    sealed: dict[int, int]

    @property
    def tries(self) -> Tries:
        return Tries(len(self.published), len(self.published) + len(self.sealed))

    def hides(self, run: Run) -> bool:
        """Whether no figure of the run may be told here."""
        is_bound = self.step is not None or run.pk in self.sealed.values()
        return is_bound and run.pk not in self.published.values()


def ladder_on(version: Version, split: str, hit: str = BY_GRADES) -> Ladder | None:
    """None for a split without test items, which is not sealed."""
    if split == Split.DEV or not test_items(version.pk, by_triples=counts_questions(hit)).exists():
        return None
    rows = _scored_on_test(version).filter(split=split, hit=hit)
    return _ladder(version, rows.values_list("pk", "run_id", "measures", "sealed_by"))


def ladder_shown(version: Version, split: str, hit: str = BY_GRADES) -> Ladder | None:
    """The same for pages, which have it from `grounds_of`."""
    grounds = grounds_of(version)
    if split == Split.DEV or not (grounds.has_test_triples if counts_questions(hit) else grounds.has_test_grades):
        return None
    return _ladder(version, [row for on, by, *row in grounds.on_test if (on, by) == (split, hit)])


def _scored_on_test(version: Version) -> QuerySet[Evaluation]:
    rows = Evaluation._base_manager.filter(version=version, scored_at__isnull=False).exclude(split=Split.DEV)
    return rows.order_by("scored_at", "pk")


def _ladder(version: Version, rows: Iterable[Sequence[Any]]) -> Ladder:
    """From key, run, measures and step of each evaluation."""
    scored = list(rows)
    return Ladder(
        policy(version.gold_set.project, "test_step"),
        next((measures[0] for *_, measures, sealed_by in scored if sealed_by is None), ""),
        {pk: run for pk, run, _, sealed_by in scored if sealed_by is None},
        {pk: run for pk, run, _, sealed_by in scored if sealed_by is not None},
    )


def best_of(ladder: Ladder) -> float | None:
    """The best published score; None where none has a value."""
    scores = Score.objects.filter(evaluation__in=ladder.published, measure=ladder.measure)
    means = [mean for mean in scores.values_list("mean", flat=True) if mean is not None]
    choose = min if is_lower_better(ladder.measure) else max
    return choose(means, default=None)


def is_published_on(evaluation: Evaluation) -> bool:
    """Whether the run has published scores on this split of any version of the gold set, by the same rule."""
    versions = Version.objects.filter(gold_set=evaluation.version.gold_set_id)
    rows = Evaluation.objects.filter(run=evaluation.run_id, version__in=versions, split=evaluation.split)
    return rows.filter(hit=evaluation.hit, scored_at__isnull=False).exists()


def with_sealed(project: Project) -> QuerySet[Evaluation]:
    """As `every_evaluation_in`, with those that stay sealed, which have no scores. `tries_of` reads what it counts."""
    alike = Evaluation._base_manager.filter(
        **{name: OuterRef(name) for name in ("version", "split", "hit")}, scored_at__isnull=False
    )
    rows = Evaluation._base_manager.filter(project=project).exclude(tells_of_single_items())
    return _related(rows).annotate(tries=CountOf(alike), published=CountOf(alike.filter(sealed_by=None)))


def tries_of(evaluation: Evaluation) -> Tries:
    """Read, unless they came with the evaluation."""
    if not hasattr(evaluation, "tries"):
        evaluation = with_sealed(evaluation.project).get(pk=evaluation.pk)
    return Tries(evaluation.published, evaluation.tries)  # type: ignore[attr-defined]


class Grounds(NamedTuple):
    """What is there, in any split and in dev, what was scored, and whether a pool had a budget of pairs.

    `scored` has the number of evaluations by each hit rule on each split; "" are grades, and both splits. `on_test` has
    split, hit rule, key, run, measures and step of each that was scored on test, also of what stays sealed.
    """

    has_grades: bool
    has_triples: bool
    has_dev_grades: bool
    has_dev_triples: bool
    has_test_grades: bool
    has_test_triples: bool
    has_budget: bool
    on_test: list[list[Any]]
    scored: dict[tuple[str, str], int]

    @property
    def hits(self) -> list[str]:
        """The hit rules by which runs were scored, sorted; "" where some were by the grades of returned blocks."""
        return sorted({hit for hit, _ in self.scored})

    def splits(self, hit: str) -> list[str]:
        """The splits on which runs were scored by grades or by a hit rule."""
        return [split for by, split in self.scored if by == hit]

    def has_test_alone(self, hit: str) -> bool:
        """Whether all that runs can be scored on, by grades or by a hit rule, is in test."""
        if counts_questions(hit):
            return self.has_triples and not self.has_dev_triples
        return self.has_grades and not self.has_dev_grades


def grounds_of(version: Version) -> Grounds:
    """In one statement, and once for all parts of a page. Without the evaluations on slices."""
    return once(("grounds", version.pk), lambda: _grounds_of(version))


_ON_TEST = ("split", "hit", "pk", "run_id", "measures", "sealed_by")


def _grounds_of(version: Version) -> Grounds:
    grades = VersionGrade.objects.filter(version=version)
    triples = VersionTriple.objects.filter(version=version)
    scored = Evaluation.objects.filter(version=version, slice=None).order_by("hit", "split").values("hit", "split")
    asked: BatchedRead[Grounds] = BatchedRead(
        {
            "scored": ListOf(scored.annotate(n=Count("pk")).values_list("hit", "split", "n")),
            "has_grades": Exists(grades),
            "has_triples": Exists(triples),
            "has_dev_grades": Exists(grades.filter(query__split=Split.DEV)),
            "has_dev_triples": Exists(triples.filter(split=Split.DEV)),
            "has_test_grades": Exists(test_items(version.pk, by_triples=False)),
            "has_test_triples": Exists(test_items(version.pk, by_triples=True)),
            "on_test": ListOf(_scored_on_test(version).values_list(*_ON_TEST), json={"measures"}),
            "has_budget": Exists(Pool.objects.filter(pk__in=version.rounds.values("pool"), plan__pairs__gt=0)),
        },
        lambda found: Grounds(**{**found, "scored": {(hit, split): n for hit, split, n in found["scored"]}}),
    )
    return answer_to(version, asked)

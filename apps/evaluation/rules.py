"""Reasons against scoring, comparing or seeing something, or None."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from django.db.models import Max

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import Member
from apps.common.errors import Refusal
from apps.corpus.enums import BlockField
from apps.corpus.models import Snapshot, SnapshotBlock
from apps.corpus.selectors.corpora import field_names
from apps.evaluation.core.basis import rule_name
from apps.evaluation.models import Evaluation, RegressionNote, Score, test_items
from apps.evaluation.selectors.evaluations import Ladder, ladder_on, part_of, tries_of
from apps.evaluation.selectors.rankings import OWN_FIELDS
from apps.goldsets.enums import Split, VersionState
from apps.goldsets.models import Slice, Version, VersionGrade, VersionQuery, VersionTriple
from apps.metrics.columns import BLOCKS, TIMES
from apps.metrics.comparison import Regressions
from apps.metrics.expected.measures import DEFAULT_HIT_MEASURES, HIT_MEASURES, refuse_without_hits
from apps.metrics.expected.rules import BY_GRADES, counts_questions, is_by_text, items_of, parse_hit_rule
from apps.metrics.measures.entries import FACETS, GRADES_ALONE, REGISTRY, TIME, UNANSWERABLE, Measure
from apps.metrics.measures.graded import refuse_above
from apps.metrics.measures.notation import MeasureError
from apps.metrics.measures.registry import (
    BY_TEXT,
    DEFAULT_MEASURES,
    DEFAULT_TEXT_MEASURES,
    parse_measures,
    refuse_unmet,
)
from apps.metrics.statistics.significance import FEWEST_FOR_A_VERDICT, Correction
from apps.metrics.statistics.strata import FEWEST_IN_STRATUM
from apps.retrieval.enums import RunState
from apps.retrieval.models import Run
from apps.retrieval.rules import own_passages_refusal
from apps.retrieval.selectors.blinding import hidden_queries

EVERY_SPLIT = ""
SPLITS = (*Split.values, EVERY_SPLIT)
SPLIT_WORDS = {Split.DEV: "dev split", Split.TEST: "test split", EVERY_SPLIT: "dev and test together"}
CLOSED = "This comparison is closed. Its decisions can no longer be changed."
NO_GRADES_HERE = "No grade makes a miss. Where the Q&A is wrong, go to the misses: “Wrong”, “Also right” or “Unclear”."
SEALED = "The test split is sealed: only leads see scores query by query, everybody else sees means."
LONGEST_COMMIT = 80
MOST_LETTERS = 80
MOST_PLANNED = 1_000_000
NO_CORRECTION = "There is no correction called “%s”; choose holm or fdr."
ONLY_GRADES = (
    "A version contains grades, subtopics, unanswerable queries and the metadata of passages; `karat score` reads the"
    " rest from files."
)


class CorrectionRefused(Refusal):
    """No such correction is known."""


def request_refusal(run: Run, version: Version, split: str, hit: str = BY_GRADES) -> str | None:
    """Why the run cannot be scored on this split of the version, by its grades or by a hit rule."""
    return results_refusal(run, version, split, hit) or small_test_words(version, split, hit) or None


def ground_refusal(run: Run, version: Version, split: str, hit: str = BY_GRADES) -> str | None:
    """Why the run cannot be scored so once it is complete."""
    return _place_refusal(run, version, split, hit) or small_test_words(version, split, hit) or None


def results_refusal(run: Run, version: Version, split: str, hit: str = BY_GRADES) -> str | None:
    """Why the run has no results for this split of the version, whether or not a score of them may be known."""
    if version.state != VersionState.DRAFT and run.state != RunState.COMPLETE:
        return f"{run.tag} is {run.state}. Only a complete run can be scored."
    return _place_refusal(run, version, split, hit)


def _place_refusal(run: Run, version: Version, split: str, hit: str) -> str | None:
    if split not in SPLITS:
        return f"There is no split called {split}; choose dev, test, or neither for both."
    if version.state == VersionState.DRAFT:
        return f"{version.label} is a draft. Freeze it first, so that scores stay comparable."
    if run.snapshot_id != version.snapshot_id:
        return (
            f"{run.tag} ranked the snapshot {run.snapshot.reference}, {version.label} grades the snapshot "
            f"{version.snapshot.reference}: the grades apply to those texts only. Run the system again on "
            f"{version.snapshot.reference}."
        )
    if hit == BY_GRADES:
        return own_passages_refusal(run)
    if is_by_text(hit):
        return None
    if not VersionTriple.objects.filter(version=version, split__in=[split] if split else list(Split.values)).exists():
        return f"{version.label} has no Q&As in the {SPLIT_WORDS[split]}, so nothing can be measured on them."
    return None


def small_test_words(version: Version, split: str, hit: str = BY_GRADES) -> str:
    """Why no score of this split may be known; "" where one may, or nothing of it is sealed.

    A mean over few test items tells of single ones, and so does one of dev and test together: that of dev is known.
    """
    if split == Split.DEV:
        return ""
    count = test_items(version.pk, by_triples=counts_questions(hit))[:FEWEST_IN_STRATUM].count()
    if not 0 < count < FEWEST_IN_STRATUM:
        return ""
    noun = items_of(hit)
    many = f"1 {noun.one}" if count == 1 else f"{count} {noun.many}"
    return (
        f"The test side of {version.label} has {many}: too few to show a score of, which would tell of single ones. "
        f"Score on dev. A lead can give test a larger share in the next version."
    )


def sealed_words(evaluation: Evaluation) -> str:
    """Why a scored evaluation has no figures; "" where it has."""
    if evaluation.sealed_by is None:
        return ""
    where = SPLIT_WORDS[evaluation.split]
    return (
        f"Scored on {where if evaluation.split == EVERY_SPLIT else f'the {where}'}. It does not beat the best so far "
        f"by {evaluation.sealed_by:g}, so its figures stay sealed ({tries_of(evaluation).words})."
    )


def step_words(ladder: Ladder | None) -> str:
    """What of a leaderboard on test is published; "" where all is."""
    if ladder is None or (ladder.step is None and not ladder.sealed):
        return ""
    if ladder.step is None:
        return f"{ladder.tries.words}. The others did not beat the best by the step of that time, and stay sealed."
    by = f" in {ladder.measure}" if ladder.measure else ""
    return f"A score here is published only if it beats the best so far by {ladder.step:g}{by}: {ladder.tries.words}."


def measures_refusal(version: Version, names: Sequence[str], ladder: Ladder | None) -> str | None:
    """Why test cannot be scored by these measures: the one that decides what is published is not among them."""
    if ladder is None or ladder.step is None or not ladder.measure or ladder.measure in names:
        return None
    return (
        f"On test of {version.label}, a score is published only if it beats the best so far by {ladder.step:g} in "
        f"{ladder.measure}. Add {ladder.measure} to the measures."
    )


def unpublished_refusal(run: Run, version: Version, split: str, hit: str = BY_GRADES) -> str | None:
    """Why no figure of the run on this split may be told."""
    ladder = ladder_on(version, split, hit)
    if ladder is None or not ladder.hides(run):
        return None
    return (
        f"{run.tag} has no published score on {version.label}, {SPLIT_WORDS[split]}, where a score is published only "
        f"if it beats the best so far by a step. Choose dev, or runs with published scores."
    )


def again_refusal(version: Version, system_ids: Collection[int], offered: Collection[int]) -> str | None:
    """Why systems cannot be run again for the version; `offered` are those that can."""
    if version.state != VersionState.RELEASED:
        return f"{version.label} is {version.get_state_display()}. Systems are run again for the released version."
    if not system_ids:
        return "No system was chosen, so there is nothing to run again."
    if not set(system_ids) <= set(offered):
        return f"This was requested before, or needs no new run: see the systems on the page of {version.label}."
    return None


def comparison_refusal(baseline: Evaluation, candidate: Evaluation) -> str | None:
    """Why two evaluations cannot be compared."""
    if baseline.pk == candidate.pk:
        return "A run cannot be compared with itself. Choose two."
    if (baseline.version_id, baseline.split) != (candidate.version_id, candidate.split):
        return "Both runs must be scored on the same version and the same split."
    if (baseline.slice_id, baseline.slice_size) != (candidate.slice_id, candidate.slice_size):
        return "Both runs must be scored on the same questions: all of the split, or one slice at one size."
    if baseline.hit != candidate.hit:
        return _basis_refusal(baseline, candidate)
    unscored = next((one for one in (baseline, candidate) if not one.is_scored), None)
    if unscored is not None:
        return f"{unscored.run.tag} has not been scored yet."
    return None


def _basis_refusal(baseline: Evaluation, candidate: Evaluation) -> str:
    """Why two evaluations that are not measured alike cannot be compared, with what mends it by grades."""
    if baseline.counts_questions or candidate.counts_questions:
        return "Both runs must be measured against the same: grades, or Q&As by the same hit rule."
    by_text = [one for one in (baseline, candidate) if one.is_by_text]
    if len(by_text) == 2:
        shares = " and ".join(f"{one.run.tag} {rule_name(one.hit)}" for one in by_text)
        return f"Both runs must be measured by the same share: {shares}. Score one of them by the share of the other."
    by_id = candidate if baseline.is_by_text else baseline
    return (
        f"{by_text[0].run.tag} is measured by text and {by_id.run.tag} by the passages that it returned: the two are "
        f"not compared. Score {by_id.run.tag} by text too."
    )


def slice_refusal(version: Version, name: str, split: str, slices: Sequence[Slice]) -> str | None:
    """Why a run cannot be scored on the slice of this name; `slices` are those of the version."""
    if version.state == VersionState.DRAFT:
        return None
    if not any(name in (one.kind, one.name) for one in slices):
        known = ", ".join(one.name for one in slices) or "none yet"
        return f"{version.label} has no slice called “{name[:20]}”. There are: {known}."
    if split == Split.TEST:
        return "Slices have dev questions only: test stays sealed. Choose the dev split."
    return None


def ground_words(evaluation: Evaluation) -> str:
    """The split that an evaluation is of, and its slice, in words."""
    part = part_of(evaluation)
    return SPLIT_WORDS[evaluation.split] + (f", {part.words}" if part else "")


def sees_split(member: Member, split: str) -> bool:
    """Whether the person may see scores of this split query by query."""
    return split == Split.DEV or member.is_lead


def decision_refusal(member: Member, split: str) -> str | None:
    if not member.holds(Role.LEAD):
        return "Only leads can decide about a drop."
    return None if sees_split(member, split) else SEALED


def explanation_refusal(decision: str, explanation: str) -> str | None:
    """Why a decision needs an explanation; “Grades wrong” needs none, so that new judges are not biased."""
    missing = {
        RegressionNote.Decision.ACCEPT: "Write why this drop is accepted.",
        RegressionNote.Decision.FIX: "Write what must be fixed.",
    }
    return None if explanation.strip() else missing.get(RegressionNote.Decision(decision))


def closing_refusal(member: Member, fell: Regressions, *, is_closed: bool, hit: str = BY_GRADES) -> str | None:
    """Why the person cannot close a comparison with these regressions."""
    if is_closed:
        return CLOSED
    if not member.holds(Role.LEAD):
        return "Only leads can close a comparison."
    if fell.unexplained:
        words = "One drop has" if fell.unexplained == 1 else f"{fell.unexplained:,} drops have"
        choices = "Accept or Fix" if counts_questions(hit) else "Accept, Fix or Grades wrong"
        return f"{words} no explanation yet. Choose {choices} for each."
    return None


def requested_correction(text: str) -> Correction:
    """The correction named in an address, Holm's where none is. Raises CorrectionRefused."""
    try:
        return Correction(text) if text else Correction.HOLM
    except ValueError:
        raise CorrectionRefused(NO_CORRECTION % text[:20], code="bad_correction") from None


def planning_refusal(
    member: Member, candidate: Evaluation, queries: int, seen: int, *, is_one_system: bool, is_reached: bool
) -> str | None:
    """Why the person cannot plan so many queries for the fixed test of two systems that were seen at `seen`."""
    items = items_of(candidate.hit)
    if not member.holds(Role.LEAD):
        return f"Only leads can plan the number of {items.many}."
    if candidate.slice_id:
        return "A slice belongs to one version, so nothing is planned on it. Plan on the whole split."
    if is_one_system:
        return "Both runs are of one system. A plan is for two systems, whose later runs can be told apart."
    if is_reached:
        return f"The planned number of {items.many} was reached, and the fixed test has decided: it cannot be changed."
    if queries <= seen:
        return f"{items.counted(seen)} {'was' if seen == 1 else 'were'} seen already: plan more than {seen:,}."
    if not FEWEST_FOR_A_VERDICT <= queries <= MOST_PLANNED:
        return f"Plan {FEWEST_FOR_A_VERDICT} to {MOST_PLANNED:,} {items.many}, not {queries:,}."
    return None


def rejudging_refusal(member: Member) -> str | None:
    return None if member.holds(Role.LEAD) else "Only leads can have pairs judged again."


def ranking_refusal(user: User, query_id: int, snapshot: Snapshot) -> str | None:
    """Why the rankings of a query are hidden from the person, and every value that tells of them."""
    return hidden_queries(user, snapshot, [query_id]).get(query_id)


def hidden_words(reasons: Sequence[str], noun: str) -> str:
    """Why queries or questions of a page are not shown one by one, by the reason of each; "" where all are."""
    if not reasons:
        return ""
    many = f"One of these {noun} is" if len(reasons) == 1 else f"{len(reasons):,} of these {noun} are"
    return " ".join([f"{many} not shown one by one.", *dict.fromkeys(reasons)])


def also_right_refusal(entry: SnapshotBlock | None, known: str) -> str:
    """Why a returned passage cannot be proposed as right as well; "" where it can, as far as the page knows."""
    if entry is None:
        return "The system cut this passage itself. Choose which of our passages is right as well."
    return {
        "wrong": "It was found wrong. Undo that first.",
        "expected": "The Q&A expects it already.",
        "open": "Two reviewers are asked about it already.",
        "disputed": "Two reviewers differ about it; a lead decides.",
        "rejected": "It was proposed before, and not added.",
    }.get(known, "")


def default_measures(hit: str = BY_GRADES) -> str:
    if counts_questions(hit):
        return DEFAULT_HIT_MEASURES
    return DEFAULT_TEXT_MEASURES if is_by_text(hit) else DEFAULT_MEASURES


OF_SOME = frozenset({FACETS, BLOCKS, TIMES, UNANSWERABLE})
"""What some versions have: subtopics, unanswerable queries, and metadata of their passages."""


LEAKS_AT = 10


def usual_measures(runs: Iterable[Run], version: Version, hit: str = BY_GRADES, former: Sequence[str] = ()) -> str:
    """What runs are measured by where nobody names a measure: those made as a role also by what it may not see.

    `former` are the measures that others were scored with on the version, which these can then be compared by.
    """
    names = " ".join(former) or default_measures(hit)
    if hit != BY_GRADES:
        return names
    roles = sorted({run.as_role for run in runs if run.as_role})
    for leaks in (Measure(name, LEAKS_AT, role=role) for role in roles for name in ("Leaks", "AnyLeak")):
        if str(leaks) in former:
            continue
        if _field_refusal(leaks, version) is None and len(str(leaks)) <= MOST_LETTERS:
            names += f" {leaks}"
    return names


def names_for_versions(hit: str = BY_GRADES) -> list[str]:
    """The measures that every version can be scored with, whatever its queries and passages say of themselves."""
    if counts_questions(hit):
        return list(HIT_MEASURES)
    return [name for name, one in REGISTRY.items() if one.needs <= _given_by(hit) - OF_SOME]


def _given_by(hit: str) -> frozenset[str]:
    """What measures by grades can read: the grades, and what `grades_refusal` looks for in the version; by text the
    words of what is returned.
    """
    return (BY_TEXT if is_by_text(hit) else GRADES_ALONE | OF_SOME) | {UNANSWERABLE}


MOST_FIGURES, LONGEST_FIGURE = 20, 60


def figures_refusal(figures: Mapping[str, float]) -> str | None:
    """Why a ledger entry cannot have these figures from elsewhere."""
    if len(figures) > MOST_FIGURES:
        return f"A run has at most {MOST_FIGURES} outside figures; these are {len(figures):,}."
    for name, value in figures.items():
        if not name.strip() or len(name) > LONGEST_FIGURE:
            return f"The name of an outside figure has 1 to {LONGEST_FIGURE} characters, not “{name[:LONGEST_FIGURE]}”."
        if not math.isfinite(value):
            return f"{name} is {value}, which is not a finite number."
    return None


def canonical_hit(text: str) -> str:
    """The hit rule as it is stored; "" for grades. Raises HitRuleError."""
    return str(parse_hit_rule(text)) if text else BY_GRADES


def version_measures(text: str, hit: str = BY_GRADES) -> tuple[Measure, ...]:
    """The measures of a list, each once. Raises MeasureError for one that versions cannot be scored with."""
    measures = parse_measures(text)
    if counts_questions(hit):
        refuse_without_hits(measures)
    else:
        refuse_unmet(measures, _given_by(hit), ONLY_GRADES)
    for measure in measures:
        if len(str(measure)) > MOST_LETTERS:
            raise MeasureError(f"{measure} is longer than {MOST_LETTERS} characters, the most that Karat stores.")
    return measures


def grades_refusal(measures: Iterable[Measure], version: Version) -> str | None:
    """Why the grades of the version are off the scale of a measure, or lack what it counts, or why its passages lack
    the metadata that it reads.
    """
    measures = list(measures)
    of_facets = [measure for measure in measures if FACETS in measure.entry.needs]
    if of_facets and not VersionGrade.objects.filter(version=version, facets__isnull=False).exists():
        return (
            f"{of_facets[0]} counts subtopics, and no grade of {version.label} names one. Give queries subtopics, judge"
            " by them, and release another version."
        )
    of_unanswerable = [measure for measure in measures if UNANSWERABLE in measure.entry.needs]
    if of_unanswerable and not version.manifest.get("counts", {}).get("unanswerable"):
        return (
            f"{of_unanswerable[0]} counts unanswerable queries, and {version.label} has none. Let two people vote on"
            " candidates, under Judging, and release another version."
        )
    by_field = {(measure.reads, measure.rate): measure for measure in measures}
    if reason := next(filter(None, (_field_refusal(measure, version) for measure in by_field.values())), None):
        return reason
    highest = VersionGrade.objects.filter(query__version=version).aggregate(highest=Max("grade"))["highest"]
    try:
        for measure in measures:
            refuse_above(measure, highest or 0)
    except MeasureError as fault:
        return str(fault)
    return None


def _field_refusal(measure: Measure, version: Version) -> str | None:
    """Why the passages of the version cannot be measured so; None also for a measure that reads nothing of them."""
    if not measure.reads or measure.reads in OWN_FIELDS:
        return None
    field = BlockField.DATE.value if measure.reads == TIME else measure.reads
    name = field_names(version.gold_set.project).get(field, field)
    if not SnapshotBlock.objects.filter(snapshot=version.snapshot_id, version__metadata__has_key=name).exists():
        stated = "The settings state which name it has." if field in BlockField.values else "Use a name that they have."
        return (
            f"{measure} reads the {field} of passages, and no passage of {version.snapshot.name} has “{name}” in its "
            f"metadata. {stated}"
        )
    rates = dict(measure.rate) if isinstance(measure.rate, tuple) else None
    domains = VersionQuery.objects.filter(version=version).values_list("fields__domain", flat=True)
    lacking = [] if rates is None else sorted({str(domain or "") for domain in domains} - rates.keys())
    if lacking:
        which = f"of the domain {lacking[0]}" if lacking[0] else "without a domain"
        return f"{measure} names no rate for queries {which}."
    return None


def fields_refusal(project: Project, fields: Collection[BlockField]) -> dict[BlockField, str]:
    """Why the metadata names of these fields can no longer be changed: scores of before were computed by them."""
    found = {}
    for field in fields:
        by = {BlockField.DATE: "TD_nDCG|Freshness", BlockField.AUDIENCE: r"\(role="}.get(field, f"by='{field}'")
        scores = Score.objects.filter(evaluation__project=project, measure__regex=by)
        if count := scores.values("evaluation").distinct().count():
            were = "1 evaluation was" if count == 1 else f"{count:,} evaluations were"
            found[field] = f"It cannot be changed: {were} computed by it, and would not compare with later ones."
    return found

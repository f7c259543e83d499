"""Scores an outside system's answers against a release, by grades and on triples, and checks its gates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from apps.cli.evaluate.answers import SystemAnswer
from apps.cli.evaluate.by_text import ReleaseTexts, TextRun
from apps.cli.evaluate.released import ReleaseSplit
from apps.cli.score.scoring import TripleGround
from apps.cli.score.triples import by_question, kind_divisions, names_of, with_facts
from apps.gates.core.decisions import (
    NO_QUERIES,
    GateVerdict,
    RunEvidence,
    decide,
    joint_confidence,
    not_known,
    state_that_counts,
    worst_state,
)
from apps.gates.core.rule import FAILED, NOTHING, PASSED, UNKNOWN, GateRule, measures_of
from apps.metrics.columns import BlockIds, Floats, Judged, Ranked, ranked_columns
from apps.metrics.expected.rules import (
    BY_GRADES,
    TEXT,
    HitRule,
    Returned,
    counts_questions,
    is_by_text,
    parse_hit_rule,
)
from apps.metrics.files.attributes import fit_of, fit_words
from apps.metrics.files.reading import missing_of
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.registry import DEFAULT_TEXT_MEASURES, parse_measures
from apps.metrics.scorecard import Scorecard, ScoredRun
from apps.metrics.scoring import queries_with_relevant, score_run
from apps.metrics.statistics.significance import DEFAULT_CONFIDENCE
from apps.metrics.statistics.strata import FEWEST_IN_STRATUM, Division
from apps.metrics.vocabulary import Vocabulary
from apps.queries.core.strata import STRATA

Fields = Mapping[str, str]


def labels_of(rows: Sequence[Fields]) -> dict[str, tuple[str, ...]]:
    """For each field with a label anywhere, the label of each row."""
    labels = {field: tuple(row.get(field, "") for row in rows) for field in STRATA}
    return {field: named for field, named in labels.items() if any(named)}


def divisions_of(rows: Sequence[Fields]) -> list[Division]:
    return [Division(field, named) for field, named in labels_of(rows).items()]


def fields_of(release: ReleaseSplit, card: Scorecard) -> list[Fields]:
    """The strata of the triples that a card has, in its order."""
    fields = {one.question.id: one.fields for one in release.triples}
    return [fields[name] for name in card.queries]


def evidence_of(
    card: Scorecard, release: ReleaseSplit, fields: Sequence[Fields], seed: int, confidence: float
) -> RunEvidence:
    """The figures of the last run of a card; of two runs the first is the baseline. `fields` are of its questions.

    `confidence` is that of the gates' intervals.
    """
    baseline = card.runs[0].scores.columns(card.measures) if len(card.runs) > 1 else None
    return RunEvidence(
        query_ids=card.queries,
        values=card.runs[-1].scores.columns(card.measures),
        baseline=baseline,
        strata=labels_of(fields),
        slices=release.slices,
        seed=seed,
        originals=card.originals,
        confidence=confidence,
    )


def decided(rule: GateRule, evidence: Mapping[str, RunEvidence], times: RunEvidence) -> GateVerdict:
    """The verdict on what the rule is about: `evidence` is by hit rule, "" for grades."""
    if rule.measure is None:
        return decide(rule, times)
    if rule.hit not in evidence:
        return not_known(rule, NO_QUERIES, _missing(rule.hit, evidence))
    return decide(rule, evidence[rule.hit])


def _missing(hit: str, evidence: Mapping[str, RunEvidence]) -> str:
    """Why nothing was measured by this rule."""
    if counts_questions(hit):
        return "the release has no Q&As."
    if is_by_text(hit):
        return "nothing was measured by text: there are no grades, or no texts to compare."
    if by_text := next(filter(is_by_text, evidence), ""):
        return f'nothing was scored by the ids of passages; a gate by text has the line hit = "{by_text}".'
    return "nothing was scored by grades."


class HasReturned(Protocol):
    """A system with the passages that it returned for each triple."""

    @property
    def name(self) -> str: ...

    @property
    def returned(self) -> Mapping[str, Sequence[Returned]]: ...


def measured_on_triples(
    release: ReleaseSplit,
    answered: Iterable[HasReturned],
    rule: HitRule,
    measures: dict[str, Measure],
    *,
    seed: int,
    confidence: float,
) -> Scorecard:
    """The scores of the runs by this rule, also by stratum; of two runs the first is the baseline."""
    ground = TripleGround(release.questions, rule, measures)
    measured = [ground.measured(one.name, one.returned, confidence=confidence) for one in answered]
    divisions = divisions_of([one.fields for one in release.triples])
    divisions += kind_divisions([one.kinds for one in release.triples])
    card = ground.card(measured, confidence=confidence, seed=seed)._replace(fewest=FEWEST_IN_STRATUM)
    return card.by_strata(ground.divided(divisions)).compared()


MILLISECONDS = 1_000
PERCENTILES = (50, 95, 99)


class Answered(NamedTuple):
    """What a system returned for the questions of a release.

    `ranked` are the results for its graded queries, None where the system names no passage by an id or no query is
    graded; `ids` are those of the blocks in it. `returned` are the passages for each triple, `passages` those for each
    question by the name it was asked under, empty for a run of blocks. `latencies` (milliseconds, one for each question
    asked) is None for a file, which has no times.
    """

    name: str
    ranked: Ranked | None
    ids: BlockIds
    returned: Mapping[str, Sequence[Returned]] = {}
    latencies: Floats | None = None
    passages: Mapping[str, Sequence[Returned]] = {}


class Wanted(NamedTuple):
    """What is measured: by grades, and on triples by a hit rule; without one by that which reads what is returned.

    By grades it is by text, with the measures `by_text`, for systems that name no graded block; for all with a rule
    `text`.
    """

    by_grades: Sequence[Measure]
    on_triples: Sequence[Measure]
    hit: HitRule | None = None
    by_text: Sequence[Measure] = ()
    text: HitRule | None = None


class LatencyFigures(NamedTuple):
    """Milliseconds for each query, over n queries."""

    p50: float
    p95: float
    p99: float
    mean: float
    n: int


class DecidedRule(NamedTuple):
    """A rule and its verdict on the run."""

    rule: GateRule
    verdict: GateVerdict


CODES = {None: 0, PASSED: 0, FAILED: 1, UNKNOWN: 4, NOTHING: 5}
"""What the command ends with, by the state of all gates; 2, 3 and 130 are for what stopped it before."""


class Evaluated(NamedTuple):
    """The scores by grades and on triples, None where there are none, and what they say of the gates.

    Each card has the baseline, if there is one, and then the run. `state` is the worst of all gates, None where no
    gates were asked for. `evidence` is what they were decided on, by hit rule, and `times` the same for speed and cost.
    `text_run` is what the run earns where its grades are by text.
    """

    by_grades: Scorecard | None
    on_triples: Scorecard | None
    latency: LatencyFigures | None
    gates: tuple[DecidedRule, ...]
    state: str | None
    evidence: Mapping[str, RunEvidence] = {}
    times: RunEvidence | None = None
    text_run: TextRun | None = None

    @property
    def code(self) -> int:
        """What the command ends with."""
        return CODES[self.state]

    @property
    def cards(self) -> list[Scorecard]:
        return [card for card in (self.by_grades, self.on_triples) if card]

    @property
    def run(self) -> ScoredRun:
        return self.cards[0].runs[-1]


def from_answers(
    name: str, answers: Sequence[SystemAnswer], release: ReleaseSplit, judged: Judged | None, blocks: Vocabulary
) -> Answered:
    """The answers as columns, in the order of the judged queries, and as the passages for each triple."""
    passages = {one.query_id: [with_facts(told, release.blocks) for told in one.passages] for one in answers}
    names_blocks = not any(passages.values()) or any(told.id for rows in passages.values() for told in rows)
    ranked = None
    if judged is not None and names_blocks:
        rows = ((one.query_id, block, score) for one in answers for block, score in one.hits)
        ranked, _ = ranked_columns(rows, judged.queries, blocks)
    seconds = {one.query_id: one.seconds for one in answers}
    taken = [seconds.get(query.query_id, np.nan) * MILLISECONDS for query in release.asked]
    returned = by_question(passages, names_of(release.questions))
    return Answered(name, ranked, blocks.ids, returned, np.array(taken, dtype=np.float64), passages)


def fit_answers(
    answers: Sequence[SystemAnswer], judged: Judged | None, release: ReleaseSplit, blocks: Vocabulary
) -> tuple[list[SystemAnswer], str]:
    """The answers with blocks that nearly fit read as those of the release, and the rule in words; "" without one."""
    known = dict.fromkeys(one.decode() for one in blocks.ids.take(np.unique(judged.block))) if judged else {}
    known |= dict.fromkeys(block.block_id for question in release.questions for block in question.expected)
    fit = fit_of(known, dict.fromkeys(block for one in answers for block, _ in one.hits))
    if fit is None:
        return list(answers), ""
    ours = {theirs: one for one, theirs in fit.fits.items()}
    read = [
        one._replace(
            hits=tuple((ours.get(block, block), score) for block, score in one.hits),
            told=tuple(passage._replace(id=ours.get(passage.id, passage.id)) for passage in one.told),
        )
        for one in answers
    ]
    return read, f"{fit_words(fit, 'blocks')} They are read so."


def evaluate(
    release: ReleaseSplit,
    judged: Judged | None,
    run: Answered,
    *,
    wanted: Wanted,
    rules: Sequence[GateRule] | None = None,
    baseline: Answered | None = None,
    cost: float | None = None,
    seed: int,
    confidence: float,
    corrects_gates: bool = False,
) -> Evaluated:
    """Score the run by grades and on triples, then check the rules; measures that only rules name are scored too.

    No rules at all are another thing than an empty list of them: then nothing is checked.
    """
    state = None if rules is None else NOTHING
    rules = rules or ()
    joint = joint_confidence(rules) if corrects_gates else DEFAULT_CONFIDENCE
    answered = [baseline._replace(name=f"{baseline.name} (baseline)"), run] if baseline else [run]
    by_grades, on_triples, evidence, text_run = None, None, dict[str, RunEvidence](), None
    texts = ReleaseTexts(release, answered)
    text = None if judged is None else _text_rule(texts, judged, wanted)
    fields = [one.fields for one in release.queries]
    if judged is not None and text is None and run.ranked is not None:
        named = _named(wanted.by_grades, rules, BY_GRADES)
        by_grades = _graded(release, judged, answered, named, seed, confidence)
        evidence[BY_GRADES] = evidence_of(by_grades, release, fields, seed, joint)
    for rule in _text_rules(text, rules) if judged is not None and texts.can_locate(-1) else ():
        named = _named(
            (wanted.by_text or parse_measures(DEFAULT_TEXT_MEASURES)) if rule == text else [], rules, str(rule)
        )
        card = _card(release, texts.judged, texts.scored(named, rule, confidence), named, seed, confidence, rule)
        evidence[str(rule)] = evidence_of(card, release, fields, seed, joint)
        if rule == text:
            by_grades, text_run = card, texts.text_run(rule)
    if release.triples:
        own = str(wanted.hit or texts.hit_rule())
        for hit in dict.fromkeys([own, *(rule.hit for rule in rules if counts_questions(rule.hit))]):
            measures = _named(wanted.on_triples if hit == own else [], rules, hit)
            card = measured_on_triples(
                release, answered, parse_hit_rule(hit), measures, seed=seed, confidence=confidence
            )
            on_triples = on_triples or card
            evidence[hit] = evidence_of(card, release, fields_of(release, card), seed, joint)
    times = RunEvidence(
        query_ids=[query.query_id for query in release.asked],
        values={},
        latencies=run.latencies,
        cost=cost,
        strata=labels_of([query.fields for query in release.asked]),
        slices=release.slices,
        seed=seed,
        confidence=joint,
    )
    gates = tuple(DecidedRule(rule, decided(rule, evidence, times)) for rule in rules)
    state = worst_state(state_that_counts(one.rule, one.verdict.state) for one in gates) if gates else state
    return Evaluated(by_grades, on_triples, latency_of(run.latencies), gates, state, evidence, times, text_run)


def _text_rule(texts: ReleaseTexts, judged: Judged, wanted: Wanted) -> HitRule | None:
    """The rule by text where grades are measured so: where it is wanted, and where a system names no graded block."""
    if wanted.text is not None:
        return wanted.text
    places = range(len(texts.answered))
    if all(texts.names_blocks(place, judged) for place in places):
        return None
    is_possible = all(texts.can_locate(place) for place in places)
    return HitRule(TEXT) if is_possible else None


def _text_rules(text: HitRule | None, rules: Sequence[GateRule]) -> list[HitRule]:
    """The rules by text that are measured, that of the card first, then those of gates."""
    of_gates = [parse_hit_rule(rule.hit) for rule in rules if is_by_text(rule.hit)]
    return list(dict.fromkeys([*([text] if text else []), *of_gates]))


def _named(measures: Sequence[Measure], rules: Sequence[GateRule], hit: str) -> dict[str, Measure]:
    """The measures by their names, with those of the rules of this hit rule."""
    return {str(one): one for one in [*measures, *measures_of(rule for rule in rules if rule.hit == hit)]}


def _graded(
    release: ReleaseSplit,
    judged: Judged,
    answered: Sequence[Answered],
    measures: dict[str, Measure],
    seed: int,
    confidence: float,
) -> Scorecard:
    """The scores by grades, also by stratum; of two runs the first is the baseline."""
    named = list(measures.values())
    runs = [
        _scored(one.name, one.ranked, one.ids, named, judged, confidence) for one in answered if one.ranked is not None
    ]
    return _card(release, judged, runs, measures, seed, confidence)


def _card(
    release: ReleaseSplit,
    judged: Judged,
    runs: Sequence[ScoredRun],
    measures: dict[str, Measure],
    seed: int,
    confidence: float,
    hit: HitRule | None = None,
) -> Scorecard:
    """The scorecard of runs by grades; `hit` is the rule by text."""
    card = Scorecard(
        measures=measures,
        queries=judged.queries,
        with_relevant=queries_with_relevant(judged),
        runs=runs,
        confidence=confidence,
        seed=seed,
        originals=judged.originals,
        fewest=FEWEST_IN_STRATUM,
        hit=hit,
        unanswerable=int((~judged.answerable).sum()),
    )
    return card.by_strata(divisions_of([query.fields for query in release.queries])).compared()


def _scored(
    name: str, ranked: Ranked, ids: BlockIds, measures: Sequence[Measure], judged: Judged, confidence: float
) -> ScoredRun:
    scores = score_run(measures, judged, ranked, ids, confidence=confidence)
    return ScoredRun(name, scores, missing_of(judged, ranked))


def latency_of(latencies: Floats | None) -> LatencyFigures | None:
    """Percentiles over the queries with a known latency; None without any."""
    known = latencies[~np.isnan(latencies)] if latencies is not None else np.empty(0)
    if not len(known):
        return None
    p50, p95, p99 = (float(value) for value in np.percentile(known, PERCENTILES))
    return LatencyFigures(p50, p95, p99, float(known.mean()), len(known))

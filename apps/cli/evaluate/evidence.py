"""What gates are decided on: figures by grades, figures on triples by each hit rule, and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from apps.cli.evaluate.released import STRATA, ReleaseSplit
from apps.gates.core.decisions import NO_QUERIES, GateVerdict, RunEvidence, decide, not_known
from apps.gates.core.rule import GateRule
from apps.metrics.files.strata import QueryDivision
from apps.metrics.scorecard import Scorecard

Fields = Mapping[str, str]


def labels_of(rows: Sequence[Fields]) -> dict[str, tuple[str, ...]]:
    """For each field with a label anywhere, the label of each row."""
    labels = {field: tuple(row.get(field, "") for row in rows) for field in STRATA}
    return {field: named for field, named in labels.items() if any(named)}


def divisions_of(rows: Sequence[Fields]) -> list[QueryDivision]:
    return [QueryDivision(field, named) for field, named in labels_of(rows).items()]


def fields_of(release: ReleaseSplit, card: Scorecard) -> list[Fields]:
    """The strata of the triples that a card has, in its order."""
    fields = {one.question.id: one.fields for one in release.triples}
    return [fields[name] for name in card.queries]


def evidence_of(card: Scorecard, release: ReleaseSplit, fields: Sequence[Fields], seed: int) -> RunEvidence:
    """The figures of the last run of a card; of two runs the first is the baseline. `fields` are of its questions."""
    baseline = card.runs[0].scores.columns(card.measures) if len(card.runs) > 1 else None
    return RunEvidence(
        query_ids=card.queries,
        values=card.runs[-1].scores.columns(card.measures),
        baseline=baseline,
        strata=labels_of(fields),
        slices=release.slices,
        seed=seed,
    )


def decided(rule: GateRule, evidence: Mapping[str, RunEvidence], times: RunEvidence) -> GateVerdict:
    """The verdict on what the rule is about: `evidence` is by hit rule, "" for grades."""
    if rule.measure is None:
        return decide(rule, times)
    if rule.hit not in evidence:
        missing = "the release has no Q&As." if rule.hit else "nothing was scored by grades."
        return not_known(rule, NO_QUERIES, missing)
    return decide(rule, evidence[rule.hit])

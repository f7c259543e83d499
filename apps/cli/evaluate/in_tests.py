"""A search function in a test: it is asked every query of a release, and its answers are held against gates."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from apps.cli.evaluate.answers import SystemAnswer, answer_of
from apps.cli.evaluate.asked import asked_of
from apps.cli.evaluate.comment import comment_facts
from apps.cli.evaluate.existing import from_file
from apps.cli.evaluate.program import hit_of
from apps.cli.evaluate.released import ReleasedQuery, ReleaseSplit
from apps.cli.evaluate.scoring import DecidedRule, Wanted, evaluate, from_answers
from apps.cli.score.triples import hit_rule
from apps.gates.core.comment import as_plain_text, comment_of
from apps.gates.core.decisions import worst_state
from apps.gates.core.rule import PASSED, TIERS, UNKNOWN, WARN, rules_in
from apps.gates.formats import read_rules
from apps.metrics.expected.measures import DEFAULT_HIT_MEASURES
from apps.metrics.expected.rules import BLOCK, TEXT, HitRule
from apps.metrics.measures.registry import DEFAULT_MEASURES, parse_measures
from apps.metrics.statistics.significance import DEFAULT_CONFIDENCE, DEFAULT_SEED
from apps.metrics.vocabulary import Vocabulary
from apps.retrieval.core.engines.remote.base import RemoteError, RemoteHit, RemoteReport
from apps.retrieval.core.engines.remote.own_passages import told_in
from apps.retrieval.core.engines.remote.search import ranked

Search = Callable[[str], Iterable[Any]]
STRINGS = ' A string is an id; a passage of your own is {"text": …}.'
NO_ROWS = "it returned {kind}, not a list of ids, of (id, score), or of dicts"


class Conditions(NamedTuple):
    """What a test asks for, under the names of the options of `karat eval`."""

    gates: Path
    tier: str = "full"
    slice: str = ""
    hit: str = "block"
    depth: int = 100
    baseline: Path | None = None


class Checked(NamedTuple):
    """`state` is that of the gates where what is not known yet warns or stops nothing; `is_open`: some gate is not
    known yet. `text` says so in a terminal, `comment` in a pull request.
    """

    state: str
    is_open: bool
    text: str
    comment: str


class CannotCheck(Exception):
    """A test asks for something that there is not, or its search returned no list of results; a sentence says which."""


def check(release: ReleaseSplit, search: Search, wanted: Conditions, *, name: str, open_warns: bool) -> Checked:
    """Ask every query, and hold the answers against the gates. What `search` raises is raised.

    Raises CannotCheck, NotAnExport, MeasureError, InputError and InputErrors.
    """
    if wanted.tier not in TIERS:
        raise CannotCheck(f"There is no tier {wanted.tier}. There are {', '.join(TIERS)}.")
    rules = rules_in(read_rules(wanted.gates), wanted.tier)
    release = asked_of(release, rules, part=wanted.slice, tier=wanted.tier, seed=DEFAULT_SEED)
    blocks = Vocabulary()
    judged = release.judged(blocks) if release.queries else None
    answers = [_answer(query, search, wanted.depth) for query in release.asked]
    answered = from_answers(name, answers, release, judged, blocks)
    path = wanted.baseline
    hit = hit_rule(wanted.hit)
    text = hit if hit.kind == TEXT else None
    measures = parse_measures(DEFAULT_MEASURES), parse_measures(DEFAULT_HIT_MEASURES)
    scored = evaluate(
        release,
        judged,
        answered,
        wanted=Wanted(*measures, HitRule(BLOCK) if text else hit, text=text),
        rules=rules,
        baseline=from_file(str(path), release, judged, blocks, fits_ids=False) if path else None,
        seed=DEFAULT_SEED,
        confidence=DEFAULT_CONFIDENCE,
    )
    facts = comment_facts(release, judged, answered, scored)
    is_open = any(one.verdict.state == UNKNOWN for one in scored.gates)
    state = worst_state(_counted(one, open_warns=open_warns) for one in scored.gates)
    return Checked(state, is_open, as_plain_text(facts), comment_of(facts))


def _counted(gate: DecidedRule, *, open_warns: bool) -> str:
    """The state of a gate where what is not known yet may only warn."""
    if gate.verdict.state == UNKNOWN and (open_warns or gate.rule.not_known == WARN):
        return PASSED
    return gate.verdict.state


def _answer(query: ReleasedQuery, search: Search, depth: int) -> SystemAnswer:
    began = time.perf_counter()
    found = search(query.text)
    if found is None or isinstance(found, str | bytes | dict) or not isinstance(found, Iterable):
        raise CannotCheck(f"{query.query_id}: {NO_ROWS.format(kind=type(found).__name__)}.")
    rows = list(found)
    seconds = time.perf_counter() - began
    try:
        hits = [hit_of(_plain(row), number) for number, row in enumerate(rows, 1)]
    except RemoteError as fault:
        hint = STRINGS if any(isinstance(row, str) for row in rows) else ""
        raise CannotCheck(f"{query.query_id}: {fault.sentence}{hint}") from None
    return _ranked(query, hits, depth, seconds)


def _plain(row: Any) -> Any:
    """A row as JSON has it: pairs and pages as lists, numbers of NumPy as numbers."""
    if isinstance(row, dict):
        return {key: _plain(value) for key, value in row.items()}
    if isinstance(row, tuple | list):
        return [_plain(value) for value in row]
    return row.item() if hasattr(row, "item") else row


def _ranked(query: ReleasedQuery, hits: list[RemoteHit], depth: int, seconds: float) -> SystemAnswer:
    """Best first, as answers of any other system are ordered: passages of the system's own as they stand."""
    if own := told_in(hits):
        return answer_of(query.query_id, own[:depth], seconds)
    names = sorted({hit.id for hit in hits}, key=str.encode)
    numbers = {name: number for number, name in enumerate(names)}
    positions, scores = ranked(query.query_id, hits, numbers, depth, RemoteReport())
    pairs = tuple((names[place], score) for place, score in zip(positions.tolist(), scores.tolist(), strict=True))
    return SystemAnswer(query.query_id, pairs, seconds)

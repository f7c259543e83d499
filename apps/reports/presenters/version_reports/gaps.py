"""What a version is known to lack, each gap as a sentence with its number. No query and no person is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from apps.common.text.wording import count, percent
from apps.evaluation.rules import SPLIT_WORDS
from apps.goldsets.enums import LeadCheckKind, LossKind, LossReason, Split
from apps.goldsets.selectors.freeze_checks import FEWEST_GRADED, OFF_TARGET
from apps.goldsets.selectors.freeze_policy import FEWEST_CONFUSERS, MOST_RELEVANT
from apps.goldsets.selectors.training import leaks_among
from apps.judging.core.resolution import Resolution
from apps.metrics.statistics.strata import FEWEST_IN_STRATUM
from apps.reports.core.document import Block, Paragraph, Table
from apps.reports.core.version_document import small_words
from apps.reports.presenters.version_reports.boards import ScoredBoard
from apps.reports.presenters.version_reports.questions import VersionQuestions, small_by_field
from apps.reports.selectors.version_facts import VersionFacts, lowest_relevant_of
from apps.review.core.elsewhere import sample_sentence
from apps.triples.enums import State

Gap = tuple[str, str]
UNJUDGED_IN = 10
RUNS_NAMED = 6
NONE_KNOWN = "Karat knows of none."
CHECKED: Mapping[str, str] = {
    LeadCheckKind.RELEVANT: f"no relevant passage, or more than {MOST_RELEVANT}",
    LeadCheckKind.CONFUSERS: f"fewer than {FEWEST_CONFUSERS} strong confusers",
    LeadCheckKind.STRATA: f"fewer than {FEWEST_IN_STRATUM} queries",
    LeadCheckKind.TERMS: "terms of use that are not public, or not known",
}
CHECKED_ON: Mapping[str, tuple[str, str]] = {
    LeadCheckKind.RELEVANT: ("graded query", "graded queries"),
    LeadCheckKind.CONFUSERS: ("graded query", "graded queries"),
    LeadCheckKind.STRATA: ("domain, difficulty or query type", "domains, difficulties and query types"),
    LeadCheckKind.TERMS: ("query or Q&A", "queries and Q&As"),
}


def gap_blocks(
    questions: VersionQuestions,
    boards: Sequence[ScoredBoard],
    facts: VersionFacts,
    manifest: Mapping[str, Any],
    *,
    is_blind: bool,
) -> list[Block]:
    """The gaps in sentences, and what was judged and left out. `is_blind`: without those that tell grades."""
    gaps = [
        *(() if is_blind else _of_relevance(questions)),
        *_of_judging(manifest["counts"], boards),
        *_of_questions(questions),
        *_of_triples(questions, manifest),
        *_of_sources(manifest),
        *(() if is_blind else _of_documents(questions, facts, manifest)),
        *_of_training(questions, facts, is_blind=is_blind),
        *_of_checks(manifest),
    ]
    head = ["About", "What is missing"]
    blocks: list[Block] = [Table("Known gaps", head, gaps, words=2, prose=frozenset({1}))] if gaps else []
    if lost := _left_out(facts):
        blocks.append(lost)
    return blocks or [Paragraph(NONE_KNOWN)]


def _of_relevance(questions: VersionQuestions) -> Iterator[Gap]:
    """How many relevant passages the graded queries have, by the grade that the checks before a freeze go by."""
    lowest = lowest_relevant_of(questions.version)
    relevant = [query.relevant for query in questions.queries if query.graded]  # type: ignore[attr-defined]
    found = [
        (relevant.count(0), f"no passage graded {lowest} or higher: measures that need one leave them out or count 0"),
        (relevant.count(1), f"a single passage graded {lowest} or higher: their scores hang on it"),
        (sum(n > MOST_RELEVANT for n in relevant), f"more than {MOST_RELEVANT} passages graded {lowest} or higher"),
    ]
    for n, words in found:
        if n:
            yield "Relevance", f"{_of_all(n, len(relevant), 'graded query', 'graded queries')} {_have(n)} {words}."


def _of_judging(counts: Mapping[str, Any], boards: Sequence[ScoredBoard]) -> Iterator[Gap]:
    """Pairs that one person decided alone, and results that nobody judged."""
    alone = counts["by_resolution"].get(Resolution.SINGLE, 0)
    if alone:
        rest = "rests on one person’s grade" if alone == 1 else "rest on one person’s grade"
        yield "Judging", f"{_of_all(alone, counts['grades'], 'judged pair', 'judged pairs')} {rest}."
    for board in boards:
        shares = (
            []
            if board.counts_questions
            else [(_unjudged(ranked.evaluation.counts), ranked.run.tag) for ranked in board.runs]
        )
        known = sorted([(share, tag) for share, tag in shares if share], key=lambda one: (-one[0], one[1]))
        if known:
            named = ", ".join(f"{percent(share, 0)} of {tag}" for share, tag in known[:RUNS_NAMED])
            more = f" and some of {len(known) - RUNS_NAMED:,} more runs" if len(known) > RUNS_NAMED else ""
            where = f"the first {UNJUDGED_IN} results on {board.where}"
            yield "Judging", f"Not judged among {where}: {named}{more}. Most measures take these as not relevant."


def _unjudged(counts: Mapping[str, Any]) -> float | None:
    judged = counts["judged_to"][UNJUDGED_IN - 1]
    return None if judged is None else 1 - judged


def _of_questions(questions: VersionQuestions) -> Iterator[Gap]:
    """Splits and strata with too few questions, and queries without a grade."""
    counts = Counter((query.split, query.graded > 0) for query in questions.queries)  # type: ignore[attr-defined]
    for split in Split.values:
        n, bare = counts[split, True], counts[split, False]
        where = SPLIT_WORDS[split]
        if bare:
            yield "Queries", f"{_of_all(bare, n + bare, 'query', 'queries')} on the {where} {_have(bare)} no grade."
        if 0 < n < FEWEST_GRADED:
            yield (
                "Queries",
                f"The {where} has {_counted(n, 'graded query', 'graded queries')}. With fewer than {FEWEST_GRADED}, a"
                " difference between two systems is rarely more than chance.",
            )
    for by_triples, noun in ((False, "queries"), (True, "Q&As")):
        for split in Split.values:
            kinds = questions.kinds(split, by_triples=by_triples)
            for field, small in small_by_field(list(kinds), kinds):
                yield (
                    "Strata",
                    f"{field}, {SPLIT_WORDS[split]}: fewer than {FEWEST_IN_STRATUM} {noun} of {small_words(small)}.",
                )


def _of_triples(questions: VersionQuestions, manifest: Mapping[str, Any]) -> Iterator[Gap]:
    """Q&As that were not decided at the freeze, that have gone stale or were retired since, or that a machine wrote."""
    waiting = manifest.get("waiting", {})
    if in_review := waiting.get(State.IN_REVIEW, 0):
        yield "Q&As", f"{_counted(in_review, 'Q&A was', 'Q&As were')} in review when it was frozen, so not in it."
    if disputed := waiting.get(State.DISPUTED, 0):
        yield "Q&As", f"{_counted(disputed, 'Q&A was', 'Q&As were')} disputed when it was frozen, so not in it."
    now = [row.triple for row in questions.triples]
    stale = sum(triple.state == State.ACCEPTED and triple.is_stale for triple in now)
    retired = sum(triple.state == State.RETIRED for triple in now)
    total, machine = manifest["counts"]["triples"], manifest["counts"]["machine_written_triples"]
    if stale:
        words = "a passage whose text has changed since"
        yield "Q&As", f"{_of_all(stale, total, 'Q&A', 'Q&As')} {_have(stale)} {words}."
    if retired:
        words = f"{_have(retired)} been retired since"
        yield "Q&As", f"{_of_all(retired, total, 'Q&A', 'Q&As')} {words}."
    if elsewhere := manifest.get("elsewhere"):
        words = "reviewed elsewhere and taken over by a lead, not confirmed by two people here"
        sampled = "".join(f" {sample_sentence(one)}." for one in elsewhere["sets"])
        yield "Q&As", f"{_of_all(elsewhere['triples'], total, 'Q&A', 'Q&As')} {words}.{sampled}"
    if machine:
        words = "from a machine; a person adopted each, and two others reviewed it"
        yield "Q&As", f"{_of_all(machine, total, 'Q&A', 'Q&As')} {words}."


def _of_sources(manifest: Mapping[str, Any]) -> Iterator[Gap]:
    for source in manifest["sources"]:
        target = source["target_share"]
        for share, items in ((source["share"], "queries"), (source.get("share_of_triples"), "Q&As")):
            if None not in (target, share) and abs(share - target) > OFF_TARGET:
                off = f"{percent(abs(share - target), 0)} {'below' if share < target else 'above'}"
                aim = f"its target of {percent(target, 0)}"
                yield "Sources", f"{source['source']} gives {percent(share, 0)} of the {items}, {off} {aim}."
    for source in manifest.get("unused_targets", []):
        target = percent(source["target_share"], 0)
        yield "Sources", f"{source['source']} gives neither a query nor a Q&A; its target is {target}."
    if sourceless := manifest["counts"]["queries_without_source"]:
        words = _of_all(sourceless, manifest["counts"]["queries"], "query", "queries")
        yield "Sources", f"{words} {'names' if sourceless == 1 else 'name'} no source, so the terms of use are unknown."


def _of_documents(questions: VersionQuestions, facts: VersionFacts, manifest: Mapping[str, Any]) -> Iterator[Gap]:
    """Documents that no question needs: no system is measured on finding them."""
    expected = {block["document_id"] for row in questions.triples for block in row.content["blocks"]}
    needed = facts.documents | expected
    every = manifest["snapshot"]["documents"]
    if (bare := every - len(needed)) > 0:
        yield (
            "Documents",
            f"{_of_all(bare, every, 'document', 'documents')} {_have(bare)} no passage that a question needs.",
        )


def _of_training(questions: VersionQuestions, facts: VersionFacts, *, is_blind: bool) -> Iterator[Gap]:
    """Items of test that a system may have been trained on."""
    found = leaks_among(questions.version, questions.queries, questions.triples, facts.manifests, is_blind=is_blind)
    if found.sentence:
        yield "Training", found.sentence


def _of_checks(manifest: Mapping[str, Any]) -> Iterator[Gap]:
    """What the checks of the project warned of when it was frozen."""
    for kind, n in manifest.get("checks", {}).items():
        if n:
            yield "Checks", f"Frozen with a warning: {_counted(n, *CHECKED_ON[kind])} {_have(n)} {CHECKED[kind]}."


def _left_out(facts: VersionFacts) -> Table | None:
    """What was judged and is not in it, by reason."""
    lost = [[LossKind(kind).label.capitalize(), LossReason(reason).label, count(n)] for kind, reason, n in facts.losses]
    return Table("Judged and left out", ["What", "Why it is left out", "Number"], lost, words=2) if lost else None


def _counted(n: int, one: str, several: str) -> str:
    return f"{count(n)} {one if n == 1 else several}"


def _of_all(n: int, total: int, one: str, several: str) -> str:
    """ "3 of 40 graded queries (8 %)"."""
    share = f" ({percent(n / total, 0)})" if total else ""
    return f"{count(n)} of {_counted(total, one, several)}{share}"


def _have(n: int) -> str:
    return "has" if n == 1 else "have"

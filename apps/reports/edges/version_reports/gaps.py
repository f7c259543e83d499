"""What a version is known to lack, each gap as a sentence with its number. No query and no person is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q

from apps.common.text.wording import count, percent
from apps.evaluation.rules import SPLIT_WORDS
from apps.goldsets.enums import LeadCheckKind, LossKind, LossReason, Split
from apps.goldsets.models import Version, VersionGrade, VersionQuery
from apps.goldsets.selectors.freeze_checks import FEWEST_GRADED, OFF_TARGET
from apps.goldsets.selectors.lead_checks import FEWEST_CONFUSERS, MOST_RELEVANT
from apps.goldsets.selectors.training import RELEVANT_FROM, training_leaks
from apps.judging.core.resolution import Resolution
from apps.metrics.statistics.strata import FEWEST_IN_STRATUM
from apps.reports.core.document import Block, Paragraph, Table
from apps.reports.core.stratum_parts import small_words
from apps.reports.edges.version_reports.boards import ScoredBoard
from apps.reports.edges.version_reports.questions import VersionQuestions, small_by_field
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
    questions: VersionQuestions, boards: Sequence[ScoredBoard], manifest: Mapping[str, Any], *, is_blind: bool
) -> list[Block]:
    """The gaps in sentences, and what was judged and left out. `is_blind`: without those that tell grades."""
    version = questions.version
    gaps = [
        *(() if is_blind else _of_relevance(version)),
        *_of_judging(manifest["counts"], boards),
        *_of_questions(questions),
        *_of_triples(version, manifest),
        *_of_sources(manifest),
        *(() if is_blind else _of_documents(questions, manifest)),
        *_of_training(version, is_blind=is_blind),
        *_of_checks(manifest),
    ]
    head = ["About", "What is missing"]
    blocks: list[Block] = [Table("Known gaps", head, gaps, words=2, prose=frozenset({1}))] if gaps else []
    if lost := _left_out(version):
        blocks.append(lost)
    return blocks or [Paragraph(NONE_KNOWN)]


def _of_relevance(version: Version) -> Iterator[Gap]:
    """How many relevant passages the graded queries have, by the grade that the checks before a freeze go by."""
    lowest = min(RELEVANT_FROM, max(entry["grade"] for entry in version.manifest["scale"]))
    graded = VersionGrade.objects.filter(version=version).values("query").order_by()
    relevant = list(
        graded.annotate(relevant=Count("pk", filter=Q(grade__gte=lowest))).values_list("relevant", flat=True)
    )
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
        shares = [] if board.hit else [(_unjudged(ranked.evaluation.counts), ranked.run.tag) for ranked in board.runs]
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
    version = questions.version
    is_graded = Exists(VersionGrade.objects.filter(query=OuterRef("pk")))
    rows = VersionQuery.objects.filter(version=version).annotate(is_graded=is_graded)
    counts = Counter(rows.values_list("split", "is_graded"))
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


def _of_triples(version: Version, manifest: Mapping[str, Any]) -> Iterator[Gap]:
    """Q&As that were not decided at the freeze, that have gone stale or were retired since, or that a machine wrote."""
    waiting = manifest.get("waiting", {})
    if in_review := waiting.get(State.IN_REVIEW, 0):
        yield "Q&As", f"{_counted(in_review, 'Q&A was', 'Q&As were')} in review when it was frozen, so not in it."
    if disputed := waiting.get(State.DISPUTED, 0):
        yield "Q&As", f"{_counted(disputed, 'Q&A was', 'Q&As were')} disputed when it was frozen, so not in it."
    since = version.triples.aggregate(
        stale=Count("pk", filter=Q(triple__state=State.ACCEPTED, triple__is_stale=True)),
        retired=Count("pk", filter=Q(triple__state=State.RETIRED)),
    )
    total, machine = manifest["counts"]["triples"], manifest["counts"]["machine_written_triples"]
    if since["stale"]:
        words = "a passage whose text has changed since"
        yield "Q&As", f"{_of_all(since['stale'], total, 'Q&A', 'Q&As')} {_have(since['stale'])} {words}."
    if since["retired"]:
        words = f"{_have(since['retired'])} been retired since"
        yield "Q&As", f"{_of_all(since['retired'], total, 'Q&A', 'Q&As')} {words}."
    if machine:
        words = "from a machine; a person adopted each, and two others reviewed it"
        yield "Q&As", f"{_of_all(machine, total, 'Q&A', 'Q&As')} {words}."


def _of_sources(manifest: Mapping[str, Any]) -> Iterator[Gap]:
    for source in manifest["sources"]:
        share, target = source["share"], source["target_share"]
        if target is not None and abs(share - target) > OFF_TARGET:
            off = f"{percent(abs(share - target), 0)} {'below' if share < target else 'above'}"
            yield (
                "Sources",
                f"{source['source']} gives {percent(share, 0)} of the queries, {off} its target of"
                f" {percent(target, 0)}.",
            )
    for source in manifest.get("unused_targets", []):
        target = percent(source["target_share"], 0)
        yield "Sources", f"{source['source']} gives no query; its target is {target}."
    if sourceless := manifest["counts"]["queries_without_source"]:
        words = _of_all(sourceless, manifest["counts"]["queries"], "query", "queries")
        yield "Sources", f"{words} {'names' if sourceless == 1 else 'name'} no source, so the terms of use are unknown."


def _of_documents(questions: VersionQuestions, manifest: Mapping[str, Any]) -> Iterator[Gap]:
    """Documents that no question needs: no system is measured on finding them."""
    graded = VersionGrade.objects.filter(version=questions.version, grade__gt=0)
    needed = set(graded.values_list("block_version__block__document__outside_id", flat=True).distinct())
    needed |= {block["document_id"] for row in questions.triples for block in row.content["blocks"]}
    every = manifest["snapshot"]["documents"]
    if (bare := every - len(needed)) > 0:
        yield (
            "Documents",
            f"{_of_all(bare, every, 'document', 'documents')} {_have(bare)} no passage that a question needs.",
        )


def _of_training(version: Version, *, is_blind: bool) -> Iterator[Gap]:
    """Items of test that a system may have been trained on."""
    if sentence := training_leaks(version, is_blind=is_blind).sentence:
        yield "Training", sentence


def _of_checks(manifest: Mapping[str, Any]) -> Iterator[Gap]:
    """What the checks of the project warned of when it was frozen."""
    for kind, n in manifest.get("checks", {}).items():
        if n:
            yield "Checks", f"Frozen with a warning: {_counted(n, *CHECKED_ON[kind])} {_have(n)} {CHECKED[kind]}."


def _left_out(version: Version) -> Table | None:
    """What was judged and is not in it, by reason."""
    rows = version.losses.values_list("kind", "reason").annotate(n=Count("pk")).order_by("kind", "reason")
    lost = [[LossKind(kind).label.capitalize(), LossReason(reason).label, count(n)] for kind, reason, n in rows]
    return Table("Judged and left out", ["What", "Why it is left out", "Number"], lost, words=2) if lost else None


def _counted(n: int, one: str, several: str) -> str:
    return f"{count(n)} {one if n == 1 else several}"


def _of_all(n: int, total: int, one: str, several: str) -> str:
    """ "3 of 40 graded queries (8 %)"."""
    share = f" ({percent(n / total, 0)})" if total else ""
    return f"{count(n)} of {_counted(total, one, several)}{share}"


def _have(n: int) -> str:
    return "has" if n == 1 else "have"

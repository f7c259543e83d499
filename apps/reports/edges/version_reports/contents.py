"""The report of a frozen version: its contents, what it was made from, and the scores of every run on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.db.models import Count

from apps.common.text.wording import count, interval, number, percent
from apps.evaluation import rules
from apps.evaluation.edges.hit_sheets import LOWER_END, rule_name
from apps.evaluation.models import Score
from apps.evaluation.selectors import evaluations, leaderboard
from apps.evaluation.selectors.leaderboard import RankedRun
from apps.evaluation.selectors.rankings import JUDGED_NAME
from apps.goldsets.core.blind import without_grades
from apps.goldsets.core.split_words import split_words
from apps.goldsets.enums import LossKind, LossReason, Split
from apps.goldsets.models import Version, VersionGrade
from apps.goldsets.selectors.versions import NamedEstimate, agreement_of
from apps.metrics.measures import parse_measure
from apps.metrics.statistics.significance import DEFAULT_CONFIDENCE
from apps.reports.core.document import Document, Table
from apps.reports.core.mean_parts import Mean
from apps.reports.core.version_document import ReleaseSummary, SplitBoard, released_document

REVOKED = "It contains material whose permission has been revoked; downloads leave that out."
Facts = list[tuple[str, str]]


def version_report(version: Version, *, is_revoked: bool, is_blind: bool) -> Document:
    """`is_revoked`: the permission of a source was revoked. The report names no person and shows no single query.

    `is_blind`: for somebody who still judges, so without the number of pairs of each grade.
    """
    manifest = without_grades(version.manifest) if is_blind else version.manifest
    return released_document(
        ReleaseSummary(
            name=f"{version.gold_set.name} {version.label}, {version.get_state_display().lower()}",
            lead=_lead(version),
            about=[
                *filter(None, [manifest["note"]]),
                *([REVOKED] if is_revoked else []),
                *([f"Scores on Q&As: {LOWER_END}"] if any(evaluations.hits_scored(version)) else []),
            ],
            counts=_counts_table(manifest["splits"]),
            sources=_sources_table(manifest["sources"]) if manifest["sources"] else None,
            agreement=[_agreement(figure) for figure in agreement_of(version)],
            resolved=_resolved(version, manifest),
            guideline=_guideline(version),
            gaps=_gaps(version),
            negatives=None if is_blind else _negatives(version),
            basis=_basis(manifest),
            digests=_digests(manifest),
            boards=[
                board
                for hit in evaluations.hits_scored(version)
                for split in rules.SPLITS
                if (board := _board(version, split, hit))
            ],
            confidence=DEFAULT_CONFIDENCE,
        )
    )


def _lead(version: Version) -> str:
    counts, snapshot = version.manifest["counts"], version.manifest["snapshot"]
    judged = f"{count(counts['queries'])} queries, {count(counts['grades'])} judged pairs"
    rest = f"{count(counts['triples'])} Q&As on {count(snapshot['blocks'])} passages"
    return f"{version.gold_set.name} {version.label} contains {judged} and {rest}."


def _counts_table(splits: dict[str, Any]) -> Table:
    kinds = ("queries", "grades", "triples")
    rows = [[str(split), *(count(splits[split][kind]) for kind in kinds)] for split in Split.values]
    return Table("Contents of each split", ["Split", "Queries", "Judged pairs", "Q&As"], rows)


def _sources_table(sources: Sequence[dict[str, Any]]) -> Table:
    rows = []
    for source in sources:
        target = "none set" if source["target_share"] is None else percent(source["target_share"], 0)
        terms = [source["scope"] or "not set", source["licence"] or "none"]
        rows.append([source["source"], *terms, count(source["queries"]), percent(source["share"], 0), target])
    return Table("Sources", ["Source", "Allowed use", "Licence", "Queries", "Share", "Target"], rows, words=3)


def _agreement(figure: NamedEstimate) -> tuple[str, str]:
    estimate = figure.estimate
    if estimate.value is None:
        return figure.name, f"Not defined. {estimate.reason}"
    return figure.name, f"{number(estimate.value, 2)}, 95 % {interval(estimate.interval)}, n {count(estimate.n)}"


def _resolved(version: Version, manifest: dict[str, Any]) -> Table | None:
    """How the judged pairs and the Q&As came to their end, counted."""
    counts = manifest["counts"]["by_resolution"]
    rows = [["Judged pairs", word.replace("_", " "), count(n)] for word, n in counts.items()]
    found = Counter(content["resolution"] for content in version.triples.values_list("content", flat=True))
    rows += [["Q&As", word or "not recorded", count(n)] for word, n in sorted(found.items())]
    return Table("How it was decided", ["What", "Resolution", "Number"], rows, words=2) if rows else None


def _guideline(version: Version) -> list[str]:
    """The text that the judges had: each paragraph, then the definition of each grade with its examples."""
    guideline = version.guideline
    if guideline is None:
        return []
    texts = [part.strip() for part in guideline.markdown.split("\n\n")]
    for grade in guideline.grades:
        texts.append(f"Grade {grade['grade']}, {grade['name']}: {grade['definition']}".strip())
    return [text for text in texts if text]


def _gaps(version: Version) -> Table | None:
    """What was judged and is not in it, by reason."""
    rows = version.losses.values_list("kind", "reason").annotate(n=Count("pk")).order_by("kind", "reason")
    gaps = [[LossKind(kind).label.capitalize(), LossReason(reason).label, count(n)] for kind, reason, n in rows]
    head = ["What", "Why it is left out", "Number"]
    return Table("Known gaps", head, gaps, words=2) if gaps else None


def _negatives(version: Version) -> Table | None:
    """The pairs that people judged not relevant: negatives that are known, for each split."""
    found = VersionGrade.objects.filter(query__version=version, grade=0)
    by_split = dict(found.values_list("query__split").annotate(n=Count("pk")).order_by("query__split"))
    rows = [[str(split), count(by_split.get(split, 0))] for split in Split.values]
    return Table("Judged and not relevant", ["Split", "Pairs of grade 0"], rows) if by_split else None


def _basis(manifest: dict[str, Any]) -> Facts:
    counts, splits, guideline = manifest["counts"], manifest["splits"], manifest["guideline"]
    resolved = ", ".join(f"{count(n)} {word}" for word, n in counts["by_resolution"].items())
    by_grade = counts.get("by_grade")
    grades = ", ".join(f"{count(n)} of grade {grade}" for grade, n in (by_grade or {}).items()) or "none"
    return [
        ("Frozen", manifest["frozen_at"]),
        ("Grades", "hidden while you judge" if by_grade is None else grades),
        ("Resolved", resolved or "nothing to resolve"),
        ("Machine-written Q&As", count(counts["machine_written_triples"])),
        ("Guideline", f"number {guideline['number']}" if guideline else "none"),
        ("Split", f"{split_words(splits)}; seed {splits['seed']}, {percent(splits['test_share'], 0)} for test"),
        ("Leaks", count(splits["leaks"])),
        ("Snapshot", manifest["snapshot"]["name"]),
        ("Made with", f"Karat {manifest['software']['version']}"),
    ]


def _digests(manifest: dict[str, Any]) -> Facts:
    digests = [("Version", manifest["digest"]), ("Snapshot", manifest["snapshot"]["digest"])]
    return [*digests, ("Guideline", manifest["guideline"]["digest"])] if manifest["guideline"] else digests


def _board(version: Version, split: str, hit: str) -> SplitBoard | None:
    """The runs on one split of the version by every measure; None when no run was scored there.

    Scores by grades and by each hit rule have boards of their own, so that they are never read as one.
    """
    names, runs = leaderboard.ranked_runs(evaluations.evaluations_on(version, split, hit))
    if not runs:
        return None
    shown = names if hit else [*names, JUDGED_NAME]
    means = [_mean(ranked, name) for name in shown for ranked in runs if name in ranked.scores]
    name = rules.SPLIT_WORDS[split] + (f", Q&As: {rule_name(hit).lower()}" if hit else "")
    return SplitBoard(name, [parse_measure(name) for name in names], means)


def _mean(ranked: RankedRun, name: str) -> Mean:
    score: Score = ranked.scores[name]
    return Mean(name, ranked.run.tag, score.summary, score.people)

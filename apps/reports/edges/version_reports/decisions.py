"""Where people differed, and how it was resolved: by kind and by role, never by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from apps.common.text.wording import count, percent
from apps.judging.core.resolution import Resolution
from apps.reports.core.document import Block, Paragraph, Table
from apps.reports.edges.version_reports.questions import VersionQuestions
from apps.review.enums import Category, Reason, ResolutionKind

PAIRS, TRIPLES = "Judged pairs", "Q&As"
NOT_KEPT = "It was frozen before Karat kept how far people differed."
BY_GRADES: Mapping[str, str] = {
    Resolution.SINGLE: "the only judge",
    Resolution.UNANIMOUS: "the judges, who agreed",
    Resolution.MAJORITY: "more than half of the judges",
    Resolution.ADJUDICATED: "a lead",
    Resolution.CARRIED: "the judges of an earlier text",
}
BY_VERDICTS: Mapping[str, str] = {
    ResolutionKind.CONSENSUS: "both reviewers at once",
    ResolutionKind.REVISED: "the author, in new words that both reviewers confirmed",
    ResolutionKind.POLICY: "the reviewer who had flagged, by the policy",
    ResolutionKind.ADJUDICATED: "a lead who had no part in it",
}


def decision_blocks(questions: VersionQuestions, manifest: Mapping[str, Any]) -> list[Block]:
    """What ended each item, and, as far as the manifest tells it to the reader, how far people had differed."""
    differed = manifest.get("disagreements")
    blocks: list[Block] = []
    if differed:
        blocks += [*_of_grades(differed["grades"]), *_of_verdicts(differed["verdicts"])]
    elif "disagreements" not in questions.version.manifest:
        blocks.append(Paragraph(NOT_KEPT, quiet=True))
    if ended := _endings(questions, manifest, differed):
        blocks.append(ended)
    return blocks if ended or differed else []


def _of_grades(facts: Mapping[str, Any]) -> Iterator[Block]:
    shared, differing = facts["shared"], facts["differing"]
    if not shared:
        return
    yield Paragraph(
        f"Of {count(shared)} pairs that two people or more graded, they differed on {count(differing)},"
        f" {percent(differing / shared, 0)}."
    )
    if differing:
        rows = [
            [_steps(int(distance)), count(n), percent(n / differing, 0)] for distance, n in facts["by_distance"].items()
        ]
        yield Table("How far grades differed", ["Highest and lowest grade", "Pairs", "Share"], rows)


def _steps(distance: int) -> str:
    return "1 apart" if distance == 1 else f"{distance:,} apart"


def _of_verdicts(facts: Mapping[str, Any]) -> Iterator[Block]:
    reviewed, differing = facts["reviewed"], facts["differing"]
    if not reviewed:
        return
    yield Paragraph(
        f"Of {count(reviewed)} Q&As, a reviewer flagged {count(differing)} at least once, "
        f"{percent(differing / reviewed, 0)}."
    )
    rows = [["What is wrong", Reason(reason).label, count(n)] for reason, n in facts["by_reason"].items()]
    rows += [["Kind of entailment", Category(kind).label, count(n)] for kind, n in facts["by_category"].items()]
    if rows:
        yield Table("What flags named", ["Part of the flag", "Named", "Q&As"], rows, words=2)


def _endings(
    questions: VersionQuestions, manifest: Mapping[str, Any], differed: Mapping[str, Any] | None
) -> Table | None:
    """All items by what ended them, and how many of those people had differed on."""
    triples = Counter(row.content["resolution"] for row in questions.triples)
    every = {PAIRS: manifest["counts"]["by_resolution"], TRIPLES: dict(sorted(triples.items()))}
    apart = {PAIRS: differed["grades"], TRIPLES: differed["verdicts"]} if differed else {}
    rows = []
    for what, counts in every.items():
        for word, n in counts.items():
            row = [what, _word(word), _role(what, word), count(n)]
            rows.append([*row, count(apart[what]["by_resolution"].get(word, 0))] if differed else row)
    head = ["What", "Resolution", "Decided by", "Number", *(["People had differed"] if differed else [])]
    return Table("How it was decided", head, rows, words=3) if rows else None


def _word(resolution: str) -> str:
    """ "policy:numeric" → "policy: numeric precision"."""
    kind, _, category = resolution.partition(":")
    if category in Category.values:
        return f"{kind}: {Category(category).label.lower()}"
    return resolution.replace("_", " ") or "not recorded"


def _role(what: str, resolution: str) -> str:
    roles = BY_GRADES if what == PAIRS else BY_VERDICTS
    return roles.get(resolution.partition(":")[0], "not recorded")

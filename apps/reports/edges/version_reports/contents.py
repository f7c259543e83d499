"""What a version is: its items by split, sources, agreement, guideline, and what it was made from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from apps.common.text.wording import count, interval, number, percent
from apps.goldsets.core.splits import split_words
from apps.goldsets.enums import Split
from apps.goldsets.models import Version
from apps.goldsets.selectors.versions import NamedEstimate, agreement_of
from apps.reports.core.document import Table

Facts = list[tuple[str, str]]
BETWEEN_TEXTS = re.compile(r"\n\s*\n|\n(?=[ \t]*(?:[-*+]|\d+[.)])\s|#)")
HEADING = re.compile(r"\A#+\s*")
LIST_ITEM = re.compile(r"\A[-*+]\s+")
STRONG = re.compile(r"(\*\*|__)(?=\S)(.+?)\1", re.DOTALL)


def lead(version: Version) -> str:
    counts, snapshot = version.manifest["counts"], version.manifest["snapshot"]
    judged = f"{count(counts['queries'])} queries, {count(counts['grades'])} judged pairs"
    rest = f"{count(counts['triples'])} Q&As on {count(snapshot['blocks'])} passages"
    return f"{version.gold_set.name} {version.label} contains {judged} and {rest}."


def counts_table(splits: dict[str, Any]) -> Table:
    kinds = ("queries", "grades", "triples")
    rows = [[str(split), *(count(splits[split][kind]) for kind in kinds)] for split in Split.values]
    return Table("Contents of each split", ["Split", "Queries", "Judged pairs", "Q&As"], rows)


def sources_table(sources: Sequence[dict[str, Any]]) -> Table:
    """Q&As by source are blank for a version that was frozen when they were not counted."""
    rows = []
    for source in sources:
        target = "none set" if source["target_share"] is None else percent(source["target_share"], 0)
        terms = [source["scope"] or "not set", source["licence"] or "none"]
        kinds = ((source["queries"], source["share"]), (source.get("triples"), source.get("share_of_triples")))
        shares = [cell for number, share in kinds for cell in _part(number, share)]
        rows.append([source["source"], *terms, *shares, target])
    heads = ["Source", "Allowed use", "Licence", "Queries", "Share", "Q&As", "Share", "Target"]
    return Table("Sources", heads, rows, words=3)


def _part(number: int | None, share: float | None) -> tuple[str, str]:
    return "" if number is None else count(number), "" if share is None else percent(share, 0)


def agreement_facts(version: Version) -> Facts:
    return [_agreement(figure) for figure in agreement_of(version)]


def _agreement(figure: NamedEstimate) -> tuple[str, str]:
    estimate = figure.estimate
    if estimate.value is None:
        return figure.name, f"Not defined. {estimate.reason}"
    bounds = f"95 % {interval(estimate.interval)}" if estimate.interval else estimate.reason
    return figure.name, f"{number(estimate.value, 2)}, {bounds}, n {count(estimate.n)}"


def guideline_texts(version: Version) -> list[str]:
    """The text that the judges had: each paragraph and list item, then the definition of each grade."""
    guideline = version.guideline
    if guideline is None:
        return []
    texts = [_plain(part) for part in BETWEEN_TEXTS.split(guideline.markdown)]
    for grade in guideline.grades:
        texts.append(f"Grade {grade['grade']}, {grade['name']}: {grade['definition']}".strip())
    return [text for text in texts if text]


def _plain(markdown: str) -> str:
    """One paragraph, heading or list item of Markdown as plain text."""
    text = STRONG.sub(r"\2", HEADING.sub("", markdown.strip()))
    return LIST_ITEM.sub("• ", text)


def basis_facts(manifest: dict[str, Any]) -> Facts:
    counts, splits, guideline = manifest["counts"], manifest["splits"], manifest["guideline"]
    resolved = ", ".join(f"{count(n)} {word}" for word, n in counts["by_resolution"].items())
    by_grade = counts.get("by_grade")
    grades = ", ".join(f"{count(n)} of grade {grade}" for grade, n in (by_grade or {}).items()) or "none"
    return [
        ("Frozen", manifest["frozen_at"]),
        ("Grades", "hidden while you judge" if by_grade is None else grades),
        *([("Resolved", resolved)] if resolved else []),
        ("Machine-written Q&As", count(counts["machine_written_triples"])),
        ("Guideline", f"number {guideline['number']}" if guideline else "none"),
        ("Split", f"{split_words(splits)}; seed {splits['seed']}, {percent(splits['test_share'], 0)} for test"),
        ("Leaks", count(splits["leaks"])),
        ("Snapshot", manifest["snapshot"]["name"]),
        ("Made with", f"Karat {manifest['software']['version']}"),
    ]


def digest_facts(manifest: dict[str, Any]) -> Facts:
    digests = [("Version", manifest["digest"]), ("Snapshot", manifest["snapshot"]["digest"])]
    return [*digests, ("Guideline", manifest["guideline"]["digest"])] if manifest["guideline"] else digests

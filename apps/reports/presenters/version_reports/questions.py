"""What the report of a version tells of its contents and decisions, and its questions with the strata of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from apps.common.text.wording import count, interval, number, percent
from apps.evaluation.core.question_kinds import FIELDS, KIND, kinds_of
from apps.evaluation.presenters.hit_score_tables import source_of
from apps.evaluation.presenters.score_tables import SPLIT, fields_of, stratum_of
from apps.evaluation.selectors.expected import version_triples
from apps.goldsets.core.splits import kept_together, on_both_sides, split_words
from apps.goldsets.enums import Split
from apps.goldsets.models import Version, VersionQuery, VersionTriple
from apps.goldsets.selectors.versions import NamedEstimate, agreement_of
from apps.judging.core.resolution import Resolution
from apps.metrics.columns import Floats, Ints
from apps.metrics.statistics.strata import open_strata
from apps.reports.core.document import Block, Paragraph, Table
from apps.reports.core.version_document import SmallStratum
from apps.reports.selectors.version_facts import counted_queries
from apps.review.enums import Category, Reason, ResolutionKind

Facts = list[tuple[str, str]]
BETWEEN_TEXTS = re.compile(r"\n\s*\n|\n(?=[ \t]*(?:[-*+]|\d+[.)])\s|#)")
HEADING = re.compile(r"\A#+\s*")
LIST_ITEM = re.compile(r"\A[-*+]\s+")
STRONG = re.compile(r"(\*\*|__)(?=\S)(.+?)\1", re.DOTALL)
PAIRS, TRIPLES = "Judged pairs", "Q&As"
NOT_KEPT = "It was frozen before Karat kept how far people differed."
BY_GRADES: Mapping[str, str] = {
    Resolution.SINGLE: "the only judge",
    Resolution.UNANIMOUS: "the judges, who agreed",
    Resolution.MAJORITY: "more than half of the judges",
    Resolution.RECONCILED: "the judges, once they saw each other's grades",
    Resolution.ADJUDICATED: "a lead",
    Resolution.LEAD_WHO_JUDGED: "a lead who also judged the pair",
    Resolution.CARRIED: "the judges of an earlier text",
}
BY_VERDICTS: Mapping[str, str] = {
    ResolutionKind.CONSENSUS: "both reviewers at once",
    ResolutionKind.REVISED: "the author, in new words that both reviewers confirmed",
    ResolutionKind.POLICY: "the reviewer who had flagged, by the policy",
    ResolutionKind.ADJUDICATED: "a lead who had no part in it",
    ResolutionKind.ELSEWHERE: "a lead, after reviews elsewhere",
}


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
    resolved = ", ".join(f"{count(n)} {_word(word)}" for word, n in counts["by_resolution"].items())
    by_grade = counts.get("by_grade")
    grades = ", ".join(f"{count(n)} of grade {grade}" for grade, n in (by_grade or {}).items()) or "none"
    return [
        ("Frozen", manifest["frozen_at"]),
        ("Grades", "hidden while you judge" if by_grade is None else grades),
        *([("Resolved", resolved)] if resolved else []),
        *([("Unanswerable queries", count(counts["unanswerable"]))] if "unanswerable" in counts else []),
        ("Machine-written Q&As", count(counts["machine_written_triples"])),
        ("Guideline", f"number {guideline['number']}" if guideline else "none"),
        ("Split", f"{split_words(splits)}; seed {splits['seed']}, {percent(splits['test_share'], 0)} for test"),
        ("Leaks", f"{count(splits['leaks'])} by what was kept together: {kept_together(splits)}"),
        *([("On both sides", words)] if (words := on_both_sides(splits)) else []),
        ("Snapshot", manifest["snapshot"]["name"]),
        ("Made with", f"Karat {manifest['software']['version']}"),
    ]


def digest_facts(manifest: dict[str, Any]) -> Facts:
    digests = [("Version", manifest["digest"]), ("Snapshot", manifest["snapshot"]["digest"])]
    return [*digests, ("Guideline", manifest["guideline"]["digest"])] if manifest["guideline"] else digests


Kinds = list[tuple[str, str]]


@dataclass(frozen=True)
class VersionQuestions:
    """The queries, as `counted_queries` has them, and the Q&As of both splits.

    Where a split is not asked for, it is one of the strata. `flags` are the categories of each triple's flags before
    the freeze, by its key.
    """

    version: Version
    flags: Mapping[int, Collection[str]]

    @cached_property
    def queries(self) -> list[VersionQuery]:
        return counted_queries(self.version)

    @cached_property
    def triples(self) -> list[VersionTriple]:
        return version_triples(self.version, "")

    def kinds(self, split: str, *, by_triples: bool) -> dict[str, Kinds]:
        """Field, as pages call it, and stratum of each question of a split, by the name that scores have of it."""
        return self._of_triples(split) if by_triples else self._of_queries(split)

    @cached_property
    def in_test(self) -> set[str]:
        """The names of all questions in test; queries and triples have no name in common."""
        queries = {query.outside_id for query in self.queries if query.split == Split.TEST}
        return queries | {row.label for row in self.triples if row.split == Split.TEST}

    def _of_queries(self, split: str) -> dict[str, Kinds]:
        queries = [query for query in self.queries if split in ("", query.split)]
        fields = fields_of(queries)
        if SPLIT in fields:
            fields = {SPLIT: fields[SPLIT], **fields}
        return {
            query.outside_id: [(word, name) for field, word in fields.items() if (name := stratum_of(query, field))]
            for query in queries
        }

    def _of_triples(self, split: str) -> dict[str, Kinds]:
        """Without a field that has one value for all: it divides nothing."""
        words = {SPLIT: SPLIT.capitalize(), **FIELDS}
        kinds = {row.label: self._own_kinds[row.label] for row in self.triples if split in ("", row.split)}
        values = {field: {name for own in kinds.values() for of, name in own if of == field} for field in words}
        divides = {field for field in words if field == KIND or len(values[field]) > 1}
        return {label: [(words[of], name) for of, name in own if of in divides] for label, own in kinds.items()}

    @cached_property
    def _own_kinds(self) -> dict[str, Kinds]:
        """Field and stratum of each Q&A. A report asks for them once for each board."""
        return {
            row.label: [(SPLIT, row.split), *kinds_of(row.content, source_of(row), self.flags.get(row.triple_id, ()))]
            for row in self.triples
        }


def divided(
    names: Sequence[str], kinds: Mapping[str, Kinds], test: Collection[str] = ()
) -> tuple[dict[tuple[str, str], Ints], list[SmallStratum]]:
    """The places among `names` of each stratum, by field and largest first; and the strata too small to score.

    Too small is also what would tell of single questions of `test`: a report is read by people for whom it is sealed.
    """
    places: dict[tuple[str, str], list[int]] = {}
    for place, name in enumerate(names):
        for kind in kinds.get(name, []):
            places.setdefault(kind, []).append(place)
    fields = list(dict.fromkeys(field for field, _ in places))
    ordered = sorted(places, key=lambda kind: (fields.index(kind[0]), -len(places[kind]), kind[1]))
    shown = set(open_strata([kinds.get(name, []) for name in names], [name in test for name in names]))
    large = {kind: np.array(places[kind]) for kind in ordered if kind in shown}
    return large, [SmallStratum(*kind, len(places[kind])) for kind in ordered if kind not in large]


def small_by_field(names: Sequence[str], kinds: Mapping[str, Kinds]) -> list[tuple[str, list[SmallStratum]]]:
    _, small = divided(names, kinds)
    return [(field, list(strata)) for field, strata in groupby(small, key=lambda stratum: stratum.field)]


def in_order(values: Floats, ids: Sequence[str], names: Sequence[str]) -> Floats:
    """Values of the questions `ids` in the order of `names`; NaN for those without."""
    found = dict(zip(ids, values.tolist(), strict=True))
    return np.array([found.get(name, np.nan) for name in names], dtype=np.float64)


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
            [f"{int(distance):,} apart", count(n), percent(n / differing, 0)]
            for distance, n in facts["by_distance"].items()
        ]
        yield Table("How far grades differed", ["Highest and lowest grade", "Pairs", "Share"], rows)


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

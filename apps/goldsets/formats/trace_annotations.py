"""Grades of what was returned in traces: as annotations of OpenInference, as scores of Langfuse, and as Phoenix takes
them.

All have the grade that was frozen, once for each passage in the list of a search. A grade is a person's: its kind is
HUMAN, and its identifier names by their pseudonyms those whose answers it rests on.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from apps.goldsets.formats.content import Content, TracedGrade, in_order
from apps.goldsets.formats.judgements import resolved

NAME = "relevance"


class Annotation(NamedTuple):
    """A graded passage of a list, with the name of its grade, the best grade of the scale, and the people behind it."""

    traced: TracedGrade
    label: str
    best: int | None
    people: str
    gold_set: str
    version: str

    @property
    def name(self) -> str:
        """By the rank in the list, from 1, where one span has a value for each passage."""
        return f"{NAME} {self.traced.place + 1}"

    @property
    def explanation(self) -> str:
        return f"{self.traced.grade.block_id}: {resolved(self.traced.grade)}"

    @property
    def about(self) -> dict[str, Any]:
        grade = self.traced.grade
        told = {"query": grade.query_id, "passage": grade.block_id, "best_grade": self.best}
        return {**told, "gold_set": self.gold_set, "version": self.version}


def annotations_of(content: Content, facts: Mapping[str, Any]) -> Iterator[Annotation]:
    """By span and place; none where nobody asked for traces."""
    traces = content.traces()
    if traces is None:
        return
    found = list(traces.of(content.grades()))
    pairs = {(one.grade.query_id, one.grade.block_id) for one in found}
    people: dict[tuple[str, str], set[str]] = {}
    for row in content.judgements() or ():
        if (pair := (row.query_id, row.block_id)) in pairs and row.grade is not None:
            people.setdefault(pair, set()).add(row.annotator)
    names = {one["grade"]: one["name"] for one in facts.get("scale", ())}
    whole = facts["gold_set"]["slug"], facts["version"]
    for one in found:
        grade = one.grade
        known = sorted(people.get((grade.query_id, grade.block_id), ()), key=lambda name: (len(name), name))
        yield Annotation(one, names.get(grade.grade, ""), max(names, default=None), ", ".join(known), *whole)


def openinference(annotations: list[Annotation]) -> dict[str, Any]:
    """A span with its annotations as attributes."""
    attributes: dict[str, Any] = {}
    for number, one in enumerate(annotations):
        values = {
            "name": one.name,
            "score": float(one.traced.grade.grade),
            "label": one.label,
            "explanation": one.explanation,
            "annotator_kind": "HUMAN",
            "identifier": one.people,
            "metadata": json.dumps({**one.about, "document_position": one.traced.place}, ensure_ascii=False),
        }
        told = {name: value for name, value in values.items() if value != ""}
        attributes |= {f"annotations.{number}.annotation.{name}": value for name, value in told.items()}
    first = annotations[0].traced
    return {
        "name": first.system,
        "context": {"trace_id": first.trace, "span_id": first.span},
        "attributes": attributes,
    }


def langfuse_score(one: Annotation, project: str) -> dict[str, Any]:
    """The body of a score. Id and time are the same for every version of the gold set: a later one replaces it."""
    traced = one.traced
    key = f"{project} {one.gold_set} {traced.trace} {traced.span} {traced.place}"
    return {
        "id": hashlib.sha256(key.encode()).hexdigest()[:32],
        "traceId": traced.trace,
        "observationId": traced.span,
        "name": one.name,
        "value": float(traced.grade.grade),
        "dataType": "NUMERIC",
        "comment": "; ".join(filter(None, (one.label, one.explanation, one.people))),
        "metadata": one.about,
        "timestamp": traced.drawn_at,
    }


def phoenix_annotation(one: Annotation) -> dict[str, Any]:
    """An annotation of a document of a span. Phoenix takes no identifier with these: a later one replaces it."""
    result = {"score": float(one.traced.grade.grade), "label": one.label or None, "explanation": one.explanation}
    return {
        "span_id": one.traced.span,
        "document_position": one.traced.place,
        "name": NAME,
        "annotator_kind": "HUMAN",
        "result": result,
        "metadata": {**one.about, "people": one.people},
    }


def by_span(annotations: Iterable[Annotation]) -> Iterator[list[Annotation]]:
    return (list(same) for _, same in groupby(annotations, key=lambda one: _key(one)[:2]))


def files(content: Content, facts: dict[str, Any]) -> Iterator[tuple[str, Iterator[bytes]]]:
    found = list(in_order(annotations_of(content, facts), _key))
    yield "annotations/openinference.jsonl", (_line(openinference(same)) for same in by_span(found))
    project = facts["project"]["slug"]
    yield "annotations/langfuse.jsonl", (_line(langfuse_score(one, project)) for one in found)


def _key(one: Annotation) -> tuple[str, str, int]:
    return one.traced.trace, one.traced.span, one.traced.place


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"

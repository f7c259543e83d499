"""The parts of a collection, each with the plan of its file, and the one plan that they add up to."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from apps.corpus.core.import_plans import SAMPLES, ImportPlan

CORPUS, QUERIES, JUDGEMENTS = "corpus", "queries", "judgements"
WORDS = ["new", "changed", "unchanged", "gone"]
NOUNS = {CORPUS: ("block", "blocks"), QUERIES: ("query", "queries"), JUDGEMENTS: ("judgement", "judgements")}


class CollectionPart(NamedTuple):
    """One file: passages, queries, or the judgements of a split. `plan` is None while it is not read."""

    kind: str
    file: str
    plan: ImportPlan | None
    split: str = ""

    def as_json(self) -> dict[str, Any]:
        plan = self.plan
        return {
            "kind": self.kind,
            "split": self.split,
            "file": self.file,
            "rows": plan.rows if plan else None,
            "counts": plan.counts if plan else {},
            "sentence": plan.sentence(*NOUNS[self.kind]) if plan else "",
            "notes": plan.notes if plan else [],
            "errors_total": plan.errors.total if plan else 0,
        }


def joined(parts: Sequence[CollectionPart], **more: Any) -> ImportPlan:
    """The plan of all parts: their figures added, their mistakes one after another, each group with its file.

    `more` are further values of its JSON.
    """
    whole = ImportPlan(WORDS)
    for plan in _plans(parts):
        whole.rows += plan.rows
        for word, number in plan.counts.items():
            whole.counts[word] += number
        whole.samples += plan.samples[:SAMPLES]
        whole.errors.absorb(plan.errors)
        whole.errors.absorb_warnings(plan.errors)
    whole.extra = {
        "parts": [part.as_json() for part in parts],
        "error_groups": _groups(parts, "groups"),
        "warning_groups": _groups(parts, "warning_groups"),
        **more,
    }
    return whole


def _plans(parts: Iterable[CollectionPart]) -> list[ImportPlan]:
    return [part.plan for part in parts if part.plan is not None]


def _groups(parts: Iterable[CollectionPart], name: str) -> list[dict[str, Any]]:
    found = [
        {**group, "file": part.file}
        for part in parts
        if part.plan is not None
        for group in getattr(part.plan.errors, name).as_json()
    ]
    return sorted(found, key=lambda group: -group["count"])

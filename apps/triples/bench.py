"""The bench page: what it shows, and the one way to draw it. Submitting, in apps.review, draws it too."""

from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.accounts.models import Project, User
from apps.corpus.models import Snapshot, SnapshotBlock
from apps.corpus.search import search_blocks
from apps.triples.checks import STOP, Check, stop_sentence
from apps.triples.drafting import Marked, marked, run_checks
from apps.triples.forms import BenchForm, initial_of
from apps.triples.models import Revision, Triple
from apps.triples.selectors import Neighbours, entry_of_block, expected_blocks, neighbours
from apps.triples.snippets import Piece, snippet

MOST_RESULTS = 20


@dataclass(frozen=True)
class Found:
    entry: SnapshotBlock
    title: str
    pieces: list[Piece]


@dataclass(frozen=True)
class Reading:
    """The block on the page, with the marks when it is the expected one."""

    entry: SnapshotBlock
    spans: list[tuple[int, int]]
    near: Neighbours

    @property
    def version(self) -> Any:
        return self.entry.version

    @property
    def words_marked(self) -> int:
        return sum(len(self.version.text[start:end].split()) for start, end in self.spans)


@dataclass
class Bench:
    """Everything the bench shows. `triple` is None until the first save."""

    project: Project
    person: User
    snapshot: Snapshot
    form: BenchForm
    triple: Triple | None = None
    revision: Revision | None = None
    sought: str = ""
    wanted_block: int | None = None
    notice: str = ""
    results: list[Found] = field(default_factory=list)

    def reading(self) -> Reading | None:
        """The block that was asked for, or else the expected one."""
        chosen = self.chosen_block()
        wanted = self.wanted_block or chosen
        entry = entry_of_block(self.snapshot, wanted) if wanted else None
        if entry is None:
            return None
        return Reading(entry, self.spans() if wanted == chosen else [], neighbours(entry))

    def chosen_block(self) -> int | None:
        if self.form.is_bound and self.form.is_valid():
            return self.form.cleaned_data["block"]
        value = self.form["block"].value()
        return int(value) if value and str(value).isdecimal() else None

    def spans(self) -> list[tuple[int, int]]:
        if self.form.is_bound:
            return list(self.form.cleaned_data.get("spans") or []) if self.form.is_valid() else []
        return [tuple(span) for span in self.stored_spans()]

    def stored_spans(self) -> list:
        blocks = expected_blocks(self.revision) if self.revision else []
        return blocks[0].spans if blocks else []

    def checks(self) -> list[Check]:
        """The checks on what the form holds now, saved or not."""
        if self.form.is_bound and not self.form.is_valid():
            faults = [error for errors in self.form.errors.values() for error in errors]
            return [Check(STOP, "form", str(fault)) for fault in faults]
        chosen = self.chosen_block()
        entry = entry_of_block(self.snapshot, chosen) if chosen else None
        blocks: list[Marked] = [marked(entry.version, self.spans())] if entry else []
        return run_checks(
            project=self.project,
            author=self.person,
            question=self.form["question"].value() or "",
            answer=self.form["answer"].value() or "",
            blocks=blocks,
            apart_from=self.triple.pk if self.triple else None,
        )


def search(snapshot: Snapshot, sought: str) -> list[Found]:
    return [
        Found(entry, entry.version.title or entry.block.outside_id, snippet(entry.version.text, sought))
        for entry in search_blocks(snapshot, sought, limit=MOST_RESULTS)
    ]


def bench_of(project: Project, person: User, snapshot: Snapshot, triple: Triple, revision: Revision) -> Bench:
    """The bench of a stored revision that is being written."""
    form = BenchForm(project=project, snapshot=snapshot, initial=initial_of(revision, expected_blocks(revision)))
    return Bench(project, person, snapshot, form, triple=triple, revision=revision)


def context_of(bench: Bench) -> dict[str, Any]:
    checks = bench.checks()
    return {
        "section": "Bench",
        "bench": bench,
        "form": bench.form,
        "triple": bench.triple,
        "revision": bench.revision,
        "snapshot": bench.snapshot,
        "reading": bench.reading(),
        "chosen": bench.chosen_block(),
        "results": bench.results,
        "sought": bench.sought,
        "checks": checks,
        "stopped": stop_sentence(checks),
        "notice": bench.notice,
    }


def render_bench(request: HttpRequest, bench: Bench, status: int = 200) -> HttpResponse:
    if bench.sought:
        bench.results = search(bench.snapshot, bench.sought)
    return render(request, "triples/bench.html", context_of(bench), status=status)

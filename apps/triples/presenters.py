"""The bench page: its contents, and the one function that renders it, for apps.review too."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone

from apps.accounts.access.pages import member_of, user_of
from apps.accounts.models import Project, User
from apps.common.text.blocktext import plain
from apps.common.web.requests import key_in
from apps.corpus.models import Corpus, Snapshot, SnapshotBlock
from apps.corpus.selectors.corpora import places_of_entries
from apps.corpus.selectors.search import search_blocks
from apps.queries.models import Query
from apps.triples import rules
from apps.triples.actions import triples
from apps.triples.core.checks import STOP, Answers, Check, answers_in, stop_sentence, stored_answers
from apps.triples.core.evidence import Piece, Span, snippet
from apps.triples.forms import ALL, BenchForm, Expected, changed, initial_of
from apps.triples.models import Revision, Triple
from apps.triples.selectors.draft_checks import Work, marked, run_checks
from apps.triples.selectors.retriever_hits import Hits, panel, top_hits
from apps.triples.selectors.triples import (
    TripleNeighbours,
    draft_of_key,
    entry_of_block,
    expected_blocks,
    neighbours,
    newest_snapshot,
    open_revision,
    triple_for,
    writing_snapshot,
)

MOST_RESULTS = 20


@dataclass(frozen=True)
class SearchResult:
    entry: SnapshotBlock
    title: str
    place: str
    pieces: list[Piece]


@dataclass(frozen=True)
class BlockReading:
    """The block on the page, with its marks when it is an expected one."""

    entry: SnapshotBlock
    spans: list[Span]
    near: TripleNeighbours
    is_expected: bool = False

    @property
    def version(self) -> Any:
        return self.entry.version

    @property
    def words_marked(self) -> int:
        return sum(len(self.version.text[start:end].split()) for start, end in self.spans)


@dataclass
class Bench:
    """The contents of the bench. `triple` is None until the first save; `query` is what a new draft starts from.

    `about_from` is the triple whose source and domain a new one begins with.
    """

    project: Project
    person: User
    snapshot: Snapshot
    form: BenchForm
    triple: Triple | None = None
    revision: Revision | None = None
    query: Query | None = None
    sought: str = ""
    wanted_block: int | None = None
    notice: str = ""
    about_from: str = ""
    results: list[SearchResult] = field(default_factory=list)

    @property
    def expected(self) -> list[Expected]:
        return self.form.expected

    def reading(self) -> BlockReading | None:
        """The requested block, or else the first expected one."""
        by_block = {block.row.block: block for block in self.expected if block.entry}
        wanted = self.wanted_block or next(iter(by_block), None)
        block = by_block.get(wanted or 0)
        entry = block.entry if block else entry_of_block(self.snapshot, wanted) if wanted else None
        if entry is None:
            return None
        return BlockReading(entry, block.spans if block else [], neighbours(entry), is_expected=block is not None)

    def checks(self) -> list[Check]:
        """The checks on the form as it is now, saved or not."""
        if self.form.is_bound and not self.form.is_valid():
            faults = dict.fromkeys(str(error) for errors in self.form.errors.values() for error in errors)
            return [Check(STOP, "form", fault) for fault in faults]
        return run_checks(self.work(), self.answers())

    def answers(self) -> Answers:
        """The answers to warnings: those of the stored draft, updated with the page's."""
        stored = stored_answers(self.revision.warnings) if self.revision else {}
        return stored | (answers_in(self.form.data) if self.form.is_bound else {})

    def work(self) -> Work:
        return Work(
            project=self.project,
            author=self.person,
            snapshot=self.snapshot,
            question=self.form["question"].value() or "",
            answer=self.form["answer"].value() or "",
            blocks=[marked(block.entry.version, block.spans) for block in self.expected if block.entry],
            needs_all_blocks=self.form["needs"].value() == ALL,
            query=self.query,
            apart_from=self.triple.pk if self.triple else None,
            hits=self.hits,
        )

    @cached_property
    def hits(self) -> Hits:
        return top_hits(self.project, self.snapshot, self.form["question"].value() or "", self.query)


def search(snapshot: Snapshot, sought: str) -> list[SearchResult]:
    """Blocks of the snapshot that match the search, best first, at most `MOST_RESULTS`."""
    found = list(search_blocks(snapshot, sought, limit=MOST_RESULTS))
    places = places_of_entries(found)
    return [
        SearchResult(entry, entry.name, places[entry.block_id], snippet(plain(entry.version.text), sought))
        for entry in found
    ]


def bench_of(project: Project, person: User, snapshot: Snapshot, triple: Triple, revision: Revision) -> Bench:
    """The bench of a stored revision that is being written."""
    form = BenchForm(project=project, snapshot=snapshot, initial=initial_of(revision, expected_blocks(revision)))
    return Bench(project, person, snapshot, form, triple=triple, revision=revision, query=triple.query)


def other_corpora(bench: Bench) -> list[Corpus]:
    """Other corpora that a new draft could be written against: those with a snapshot."""
    if bench.triple is not None:
        return []
    frozen = Corpus.objects.filter(project=bench.project, snapshots__isnull=False).distinct()
    return list(frozen.exclude(pk=bench.snapshot.corpus_id).order_by("name", "pk"))


def context_of(bench: Bench) -> dict[str, Any]:
    checks = bench.checks()
    return {
        "section": "Write Q&A",
        "bench": bench,
        "form": bench.form,
        "triple": bench.triple,
        "revision": bench.revision,
        "snapshot": bench.snapshot,
        "reading": bench.reading(),
        "expected": bench.expected,
        "results": bench.results,
        "sought": bench.sought,
        "checks": checks,
        "stopped": stop_sentence(checks),
        "notice": bench.notice,
    }


def render_bench(request: HttpRequest, bench: Bench, status: int = 200) -> HttpResponse:
    if bench.sought:
        bench.results = search(bench.snapshot, bench.sought)
    expected = [block.row.block for block in bench.expected]
    context = context_of(bench) | {"other_corpora": other_corpora(bench)}
    context |= panel(bench.snapshot, bench.hits, expected=expected, query=bench.query)
    return render(request, "triples/bench.html", context, status=status)


def snapshot_for(request: HttpRequest, project: Project, triple: Triple | None = None) -> Snapshot | None:
    """The snapshot to write against: the newest of the triple's corpus, of the corpus in the request, or of all."""
    if triple is not None:
        return writing_snapshot(triple)
    corpus = key_in((request.POST or request.GET).get("corpus", ""))
    named = newest_snapshot(project, corpus) if corpus else None
    return named or newest_snapshot(project)


def snapshot_or_404(request: HttpRequest, project: Project, triple: Triple | None = None) -> Snapshot:
    """The same; Http404 before any snapshot is frozen."""
    snapshot = snapshot_for(request, project, triple)
    if snapshot is None:
        raise Http404("There is no snapshot yet. Freeze one first.")
    return snapshot


def query_of(project: Project, text: str) -> Query | None:
    """The query whose key was sent; None when it is no number, Http404 for a query of another project."""
    number = key_in(text)
    return get_object_or_404(Query, project=project, pk=number) if number is not None else None


def started_draft(request: HttpRequest, project: Project) -> Triple | None:
    """The draft that an earlier post of the same new bench made; None without one."""
    return draft_of_key(project, user_of(request), request.POST.get("key", ""))


@transaction.atomic
def save_bench(request: HttpRequest, project: Project, pk: int | None) -> tuple[Bench, Triple | None]:
    """Save the posted bench, as a new draft or into the open revision.

    Returns the bench, and the triple, or None when a field is invalid or somebody saved in between: then the bench has
    all posted values and the faults. A new draft posted a second time, after a lost response or a double click, is
    saved into the draft of the first post.
    """
    triple = triple_for(member_of(request), pk) if pk else started_draft(request, project)
    snapshot = snapshot_or_404(request, project, triple)
    form = BenchForm(changed(request.POST), project=project, snapshot=snapshot)
    page = Bench(project, user_of(request), snapshot, form, triple=triple)
    if triple is not None:
        page.revision, page.query = _writable(request, triple), triple.query
    if not form.is_valid():
        page.notice = "Nothing was saved: please check the marked field."
        return page, None
    try:
        return page, _store(request, page)
    except triples.AlreadyStarted as meanwhile:
        return save_bench(request, project, meanwhile.triple.pk)
    except triples.EditConflict as conflict:
        page.notice = conflict.sentence
        return page, None


def _writable(request: HttpRequest, triple: Triple) -> Revision:
    revision = open_revision(triple)
    if revision is None:
        raise triples.DraftRefused("No revision is open, so the wording cannot be changed.", code="no_open_revision")
    triples.DraftRefused.raise_for(rules.write_refusal(user_of(request), revision), code="not_editable")
    return revision


def _store(request: HttpRequest, page: Bench) -> Triple:
    data, at = page.form.cleaned_data, timezone.now()
    if page.triple is not None:
        return triples.save_draft(
            project=page.project,
            triple_id=page.triple.pk,
            author=page.person,
            seen_version=data["seen_version"] or 0,
            snapshot=page.snapshot,
            wording=page.form.wording(),
            at=at,
        )
    query = get_object_or_404(Query, project=page.project, pk=data["query"]) if data["query"] else None
    return triples.start_draft(
        project=page.project,
        author=page.person,
        snapshot=page.snapshot,
        wording=page.form.wording(),
        query=query,
        idempotency_key=data["key"],
        at=at,
    )

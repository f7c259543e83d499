"""Pages of corpora, snapshots and passages; freezing and redacting."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.text.wording import plural
from apps.common.web.requests import own_page
from apps.corpus import rules
from apps.corpus.actions.corpora import redact_version, request_freeze
from apps.corpus.models import Block, Corpus, Snapshot
from apps.corpus.selectors import snapshots
from apps.corpus.selectors.corpora import (
    block_by_key,
    corpora_in,
    corpus_in,
    counted,
    current_blocks,
    entries_of,
    found_blocks,
    imports_in,
    snapshot_before,
    snapshot_in,
    snapshots_in,
    version_in,
)
from apps.corpus.selectors.search import search_blocks
from apps.jobs.enums import JobState
from apps.jobs.models import Job

PAGE_SIZE = 25
DIFFS = 20
DIFFERENCES = {"changed": "Changed", "added": "Added", "gone": "Gone", "moved": "Moved", "described": "Details"}


@require_safe
@member_view()
def corpus_list(request: HttpRequest, project: Project) -> HttpResponse:
    corpora = counted(corpora_in(project))
    imports = imports_in(project).filter(kind="corpus")[:5]
    context = {"corpora": corpora, "imports": imports}
    return render(request, "corpus/list.html", context)


@require_safe
@member_view()
def corpus_page(request: HttpRequest, project: Project, corpus_slug: str) -> HttpResponse:
    corpus = corpus_in(project, corpus_slug)
    snapshots_of_corpus = list(snapshots_in(project).filter(corpus=corpus))
    latest = snapshots_of_corpus[0] if snapshots_of_corpus else None
    pending = snapshots.pending(corpus, latest)
    find = request.GET.get("find", "").strip()[:200]
    blocks = found_blocks(current_blocks(corpus), find)
    context = {
        "corpus": corpus,
        "snapshots": snapshots_of_corpus,
        "latest": latest,
        "job": _freeze_job(corpus, latest),
        "pending": pending,
        "freeze_refusal": rules.freeze_refusal(pending, latest if pending.is_nothing else None),
        "find": find,
        "page": _page(request, blocks),
    }
    return render(request, "corpus/corpus.html", context)


@require_POST
@member_view(Role.LEAD)
def freeze(request: HttpRequest, project: Project, corpus_slug: str) -> HttpResponse:
    """Freeze the corpus, and go on to the page that needed a snapshot (`then`), to its edition, or to the snapshot."""
    corpus = corpus_in(project, corpus_slug)
    snapshot, _ = request_freeze(
        corpus_id=corpus.pk,
        actor=user_of(request),
        at=timezone.now(),
        name=request.POST.get("name", "")[:120],
    )
    if snapshot is None:
        return redirect("corpus:corpus", slug=project.slug, corpus_slug=corpus.slug)
    passages = plural(snapshot.block_count, "passage")
    said = f"{snapshot.name} is frozen: {passages}."
    edition = reverse("editions:snapshot", args=[project.slug, snapshot.pk]) if snapshot.number > 1 else ""
    if then := (edition if "edition" in request.POST else "") or own_page(request, request.POST.get("then", "")):
        messages.success(request, said)
        return redirect(then)
    following = '{} Next: <a href="{}">add queries</a> or <a href="{}">run a system</a>.'
    pages = [reverse(name, args=[project.slug]) for name in ("queries:list", "retrieval:overview")]
    if edition:
        following, pages = '{} Next: <a href="{}">see what it touches</a>, and take the grades along.', [edition]
    messages.success(request, format_html(following, said, *pages))
    return redirect("corpus:snapshot", slug=project.slug, pk=snapshot.pk)


@require_safe
@member_view()
def snapshot_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The snapshot: its figures, its differences from the previous one, and its blocks, with a search."""
    snapshot = snapshot_in(project, pk)
    find = request.GET.get("find", "").strip()[:200]
    entries = search_blocks(snapshot, find, limit=PAGE_SIZE) if find else None
    before = snapshot_before(snapshot)
    context = {
        "snapshot": snapshot,
        "before": before,
        "counts": snapshots.difference(before, snapshot).counts() if before else None,
        "find": find,
        "entries": entries,
        "page_size": PAGE_SIZE,
        "page": None if find else _page(request, entries_of(snapshot)),
    }
    return render(request, "corpus/snapshot.html", context)


@require_safe
@member_view()
def snapshot_changes(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The differences from the previous snapshot, block by block, with changed words marked."""
    snapshot = snapshot_in(project, pk)
    before = snapshot_before(snapshot)
    word = request.GET.get("show", "changed")
    if word not in DIFFERENCES:
        word = "changed"
    context: dict[str, Any] = {"snapshot": snapshot, "before": before, "word": word}
    if before is not None:
        difference = snapshots.difference(before, snapshot)
        page = _page(request, getattr(difference, word), DIFFS)
        with_words = word in {"changed", "moved", "described"}
        context |= {
            "page": page,
            "counts": [(name, title, getattr(difference, name).count()) for name, title in DIFFERENCES.items()],
            "rows": snapshots.word_diffs(list(page)) if with_words else None,
            "renamed": snapshots.renamed_between(before, snapshot)[:DIFFS] if word == "described" else None,
        }
    return render(request, "corpus/changes.html", context)


@require_safe
@member_view()
def block_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    block = block_by_key(project, pk)
    texts = snapshots.texts_of(block)
    context = {"unit": block, "texts": texts, "heading": _heading(block, texts)}
    return render(request, "corpus/block.html", context)


@require_POST
@member_view(Role.LEAD)
def redact(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    version = version_in(project, pk)
    redact_version(
        version_id=version.pk,
        reason=request.POST.get("reason", "")[:2_000],
        actor=user_of(request),
        at=timezone.now(),
    )
    return redirect("corpus:block", slug=project.slug, pk=version.block_id)


def _heading(block: Block, texts: Sequence[snapshots.Text]) -> str:
    """The title of the newest text; else its section, its document or its id."""
    newest = texts[0].version if texts else None
    titles = (newest.title, *newest.section_path[-1:], block.document.title) if newest else ()
    return next(filter(None, titles), block.outside_id)


def _freeze_job(corpus: Corpus, latest: Snapshot | None) -> Job | None:
    """The job that freezes the corpus, or that failed to and was not followed by a later snapshot."""
    job = corpus.freeze_job
    if job is None or job.state == JobState.DONE:
        return None
    return None if job.is_ended and latest and latest.frozen_at > job.created_at else job


def _page(request: HttpRequest, rows: QuerySet, size: int = PAGE_SIZE) -> Page:
    return Paginator(rows, size).get_page(request.GET.get("page"))

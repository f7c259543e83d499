"""A small world to look at: the demo project with a few things half done, and the pages the resolver knows."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.actions.invitations import invite
from apps.accounts.actions.tokens import create_token
from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import members_of
from apps.corpus.enums import ImportState
from apps.corpus.selectors.corpora import snapshots_in
from apps.dashboard.actions.projects import request_demo
from apps.goldsets.actions.versions import draft_version
from apps.jobs.enums import UploadState
from apps.judging.enums import RoundState
from apps.retrieval.models import PoolQuery
from apps.triples.actions.triples import start_draft
from apps.triples.selectors.draft_checks import BlockChoice, Wording
from tests.endpoints import ENDPOINTS
from tests.factories import make_user
from tests.running_jobs import run_jobs
from tests.world import ROUTES, is_of_the_api, request_bias

BLOCKS = b'{"block_id": "a1", "document_id": "annex", "title": "Annex", "text": "Keys are rotated."}\n'


@dataclass
class World:
    project: Project
    lead: User
    annotator: User
    unlinked: list[str]


def build() -> World:
    """The demo, with an invitation, a token, a draft version, a draft triple and three previewed files beside it."""
    lead, at = make_user("Petra Lomas", is_operator=True), timezone.now()
    job = request_demo(host=lead, at=at)
    run_jobs()
    project = Project.objects.get(pk=job.project_id)
    invite(project=project, actor=lead, roles=[Role.VIEWER], at=at)
    create_token(project=project, user=lead, name="pipeline", scopes=["runs:write"], at=at, lasts=timedelta(days=9))
    snapshot = snapshots_in(project)[0]
    gold_set = project.gold_sets.get()
    draft_version(gold_set_id=gold_set.pk, snapshot=snapshot, rounds=list(project.rounds.all()), actor=lead, at=at)
    text = snapshot.entries.select_related("version").first().version
    wording = Wording(question="What is kept?", answer="All of it.", blocks=(BlockChoice(text.pk, ((0, 4),)),))
    start_draft(project=project, author=lead, snapshot=snapshot, wording=wording, at=at)
    _preview_files(project, lead)
    request_bias(project, lead)
    annotators = members_of(project, Role.ANNOTATOR).exclude(pk__in=members_of(project, Role.LEAD))
    return World(project, lead, annotators[0], [*_unlinked(project)])


def _preview_files(project: Project, lead: User) -> None:
    """Files that were handed in and wait for a decision, through the pages that people use."""
    client = Client()
    client.force_login(lead)
    entry = project.runs.first().snapshot.entries.select_related("block").first()
    query = project.queries.first()
    line = f"{query.outside_id} Q0 {entry.block.outside_id} 1 1.5 theirs\n".encode()
    blocks = {"format": "jsonl", "ids": "file", "corpus": "+", "name": "Annex", "mode": "replace"}
    document = entry.block.document.outside_id
    edition = json.dumps({"block_id": entry.block.outside_id, "document_id": document, "text": "It is said anew."})
    to_corpus = blocks | {"corpus": entry.snapshot.corpus.slug, "name": "", "mode": "merge"}
    for page, fixed, content, fields in (
        ("corpus:import-new", {"kind": "corpus"}, BLOCKS, blocks),
        ("corpus:import-new", {"kind": "corpus"}, edition.encode(), to_corpus),
        ("retrieval:upload", {}, line, {"snapshot": entry.snapshot_id}),
    ):
        url = reverse(page, kwargs={"slug": project.slug, **fixed})
        response = client.post(url, {"file": SimpleUploadedFile("theirs.txt", content), **fields})
        assert response.status_code == 302, response.content.decode()
    run_jobs()


def _unlinked(project: Project) -> Iterator[str]:
    """Pages that a form leads to, so that no link does; and a query whose ranks are hidden from nobody, since of those
    with a large difference the lead still judges."""
    first, second = project.evaluations.order_by("pk")[:2]
    pair = {"slug": project.slug, "baseline": first.pk, "candidate": second.pk}
    yield reverse("evaluation:compare", kwargs=pair)
    judged_now = PoolQuery.objects.filter(pool__rounds__state=RoundState.OPEN)
    query = first.version.queries.exclude(query__in=judged_now.values("query")).first()
    yield reverse("evaluation:query", kwargs=pair | {"pk": query.pk})
    yield reverse("retrieval:runs", kwargs={"slug": project.slug})
    yield reverse("dashboard:search", kwargs={"slug": project.slug}) + "?q=backup"
    edition = project.imports.filter(kind="corpus", state=ImportState.READY).latest("pk")
    yield reverse("editions:import", kwargs={"slug": project.slug, "pk": edition.pk})
    for upload in project.uploads.filter(kind="run", state=UploadState.STORED):
        yield reverse("retrieval:preview", kwargs={"slug": project.slug, "pk": upload.pk})


def page_names() -> set[str]:
    """Every endpoint outside the API that somebody may read."""
    return {name for name in ROUTES if ENDPOINTS[name].get and not is_of_the_api(name)}

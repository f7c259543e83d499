"""What an undone import brought counts nowhere: every page and answer with a figure reads as it did before the import.

The pages come from the table of endpoints, so a new one is read too; only those in SHOWN may differ.
"""

import json
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from unittest.mock import patch
from urllib.parse import urlencode

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import Project, User
from apps.corpus.actions.imports import confirm_import, start_import, undo_import
from apps.corpus.models import Snapshot
from apps.goldsets.actions.versions import draft_version
from apps.goldsets.selectors.versions import rounds_on
from apps.judging.enums import RoundState
from apps.judging.models import Judgement, KnownAnswer, Round, Seat
from apps.judging.pages import planning
from apps.judging.selectors.rejudging import known_pairs
from apps.queries.actions.queries import lock_queries
from apps.retrieval.actions.pools import choose_pairs
from tests.editions.versions import release_without_stale
from tests.endpoints import ENDPOINTS
from tests.factories import AT, lead_of, make_project
from tests.fast_client import Asker
from tests.goldsets.factories import make_gold_set
from tests.judging.factories import make_guideline, make_pool, make_round
from tests.world import ROUTES, World, arguments_of

pytestmark = [pytest.mark.django_db, pytest.mark.once]

SHOWN = {
    "audit:list": "the import and its undo are on record",
    "corpus:imports": "the import is listed as undone",
    "judging-api:imports": "the import is listed as undone",
    "triples-api:imports": "the import is listed as undone",
    "judging:index": "the round is listed as withdrawn",
    "judging-api:all-rounds": "the round is listed as withdrawn",
    "dashboard:settings": "the scale stays fixed: grades on record mean what it said",
    "settings-api:settings": "the scale stays fixed: grades on record mean what it said",
    "dashboard:delete": "what was taken back is deleted too",
    "triples:list": "the drafts are listed as withdrawn",
    "triples:mine": "the drafts are listed as withdrawn",
    "triples-api:list": "the drafts are listed as withdrawn",
}
NO_FIGURES = re.compile(
    r"(accounts|mail|jobs|jobs-api|notifications|notifications-api|badges|gates-api|systems-api):|healthz|readyz|metrics"
    r"|api:|dashboard:manual|people:(tokens|secrets)|corpus:import-|judging:keys|queries:(new|source-edit|edit)"
    r"|retrieval:(new-|upload|preview|mistakes|pace)|gates:(new|import|gates-file)|goldsets:new$|triples:(bench|edit|find|hits|queries|block)|reports-api:"
    r"|retrieval:provenance|(goldsets-api|evaluation):export"
)
"""Accounts, jobs, the manual, forms that ask for something new, writing a Q&A, and what another page shows too."""
OF_EACH_ROLE = {"dashboard:home", "agreement:overview", "agreement:differences", "goldsets:version", "queries:query"}
"""Pages whose figures depend on who reads; elsewhere a role hides and shows what a lead sees."""
APART = re.compile(
    r'name="(?:csrfmiddlewaretoken|key|started)" value="[^"]+"|"X-CSRFToken": "[^"]+"|data-csrf="[^"]+"'
    r'|nonce-[^\']+|nonce="[^"]+"'
)
"""What differs at every request."""


def import_and_undo(project: Project, snapshot: Snapshot, pairs: Iterable[tuple[str, str]], at: datetime) -> None:
    """Grades of two raters who differ on every pair, and a Q&A, taken back at once."""
    lead = lead_of(project)
    rows = "".join(f"{query},{block},Zoe,0\n{query},{block},Al,3\n" for query, block in pairs)
    block = snapshot.entries.order_by("position").first().block.outside_id
    asked = {"question": "How long?", "expected_block": {"block_id": block}, "expected_answer": "So."}
    ratings = {"format": "ratings", "snapshot": str(snapshot.pk), "columns": "", "grades": "", "name": "Theirs"}
    files = (
        ("judgements", ratings, f"query_id,block_id,annotator,grade\n{rows}"),
        ("triples", {"format": "jsonl", "corpus": "", "machine": ""}, f"{json.dumps(asked)}\n"),
    )
    for kind, options, text in files:
        file = SimpleUploadedFile("theirs.txt", text.encode())
        item = start_import(project=project, kind=kind, file=file, options=options, actor=lead, at=at)
        item = confirm_import(import_id=item.pk, actor=lead, at=at)
        assert item.result["rows"]
        undo_import(import_id=item.pk, actor=lead, at=at)


def answers(asker: Asker, pages: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What is answered at each address, without what differs at every request."""
    found = {}
    with patch.object(planning.secrets, "randbelow", lambda below: 5):
        for name, url in pages:
            answer = asker.answer("get", url, whole=True)
            body = b"".join(answer.streaming_content) if answer.streaming else answer.content
            found[f"{name} {url}"] = f"{answer.status_code} {APART.sub('', body.decode(errors='replace'))}"
    return found


def differing(before: dict[str, str], after: dict[str, str]) -> list[str]:
    return [where for where in before if before[where] != after[where] and where.split(" ")[0] not in SHOWN]


@pytest.fixture
def now() -> Iterator[datetime]:
    """A clock that stands still, or pages would say "two minutes ago" where they said "one"."""
    moment = timezone.now()
    with patch("django.utils.timezone.now", lambda: moment):
        yield moment


@pytest.mark.usefixtures("now")
def test_a_project_whose_only_grades_were_undone_reads_as_if_it_had_none():
    project = make_project_with_pool()
    snapshot = project.pools.get().snapshot
    client = Client()
    client.force_login(lead_of(project))
    lead = Asker(client.cookies)
    pages = [
        (name, reverse(name, args=[project.slug]))
        for name in sorted(ROUTES)
        if arguments_of(name) == ["slug"]
        if "lead" in (ENDPOINTS[name].get or ()) and not NO_FIGURES.match(name)
    ]
    before = answers(lead, pages)

    queries = project.queries.values_list("outside_id", flat=True)
    blocks = snapshot.entries.values_list("block__outside_id", flat=True)
    import_and_undo(project, snapshot, [(query, block) for query in queries for block in blocks], AT)

    assert len(pages) > 40
    assert differing(before, answers(lead, pages)) == []


def make_project_with_pool() -> Project:
    pool = make_pool(make_project(), queries=2, blocks=3)
    make_guideline(pool.project)
    lock_queries(list(pool.pool_queries.values_list("query", flat=True)), at=AT)
    return pool.project


@pytest.mark.slow
def test_everything_reads_as_before_an_import_that_was_undone(world, now):
    known = Round.objects.filter(project=world.project).earliest("number")
    graded = Judgement.objects.filter(round=known)
    pairs = graded.order_by("pk").values_list("entry__query__outside_id", "entry__version__block__outside_id")
    blocks = known.pool.snapshot.entries.order_by("position").values_list("block__outside_id", flat=True)[:6]
    being_judged = Seat.objects.filter(round__project=world.project, round__state=RoundState.OPEN)
    asked = set(being_judged.values_list("query__outside_id", "entry__version__block__outside_id"))
    new = {(query, block) for query, _ in pairs[:20] for block in blocks}
    pages = {role: list(questions(world, role, known)) for role in ("lead", "viewer", "annotator", "reviewer")}
    before = everything(world, pages, now)

    import_and_undo(world.project, known.pool.snapshot, sorted({*pairs[:20], *new} - asked), now)

    assert differing(before, everything(world, pages, now)) == []


def questions(world: World, role: str, known: Round) -> Iterator[tuple[str, str]]:
    """Every page with figures that a lead may read, what only this role may, and what depends on the role."""
    for name in sorted(ROUTES):
        readers = ENDPOINTS[name].get or frozenset()
        is_read = role == "lead" or "lead" not in readers or name in OF_EACH_ROLE
        if role in readers and is_read and not NO_FIGURES.match(name):
            yield name, world.url(name)
    slug = world.project.slug
    for by in ("query", "stratum", "week"):
        yield "agreement:differences", f"{reverse('agreement:differences', args=[slug])}?by={by}"
    if role == "lead":
        yield "dashboard:search", f"{reverse('dashboard:search', args=[slug])}?q=Theirs"
        plan = {"pool": known.pool_id, "annotators": world.people["annotator"].pk, "seed": 5, "lease_minutes": 30}
        for more in ({}, {"judge_again": "on"}, {"checks": 2}):
            chosen = {"overlap": 0, "bar": 0.5, "resolution": "majority", **plan, **more}
            yield "judging:preview", f"{reverse('judging:preview', args=[slug])}?{urlencode(chosen)}"
    for pair in known.pool.entries.select_related("version").order_by("pk")[:2]:
        yield "queries:query", reverse("queries:query", args=[slug, pair.query_id])
        yield "corpus:block", reverse("corpus:block", args=[slug, pair.version.block_id])


def everything(world: World, pages: dict[str, list[tuple[str, str]]], at: datetime) -> dict[str, str]:
    """What each role reads, the plan of new rounds and the bytes of a new version."""
    found = {
        f"{where} as {role}": words
        for role, asked in pages.items()
        for where, words in answers(world.askers[role], asked).items()
    }
    with transaction.atomic():
        found |= new_rounds(world) | new_version(world, at)
        transaction.set_rollback(True)
    return found


def new_rounds(world: World) -> dict[str, str]:
    """The seats and checks of rounds on the pairs that were imported, without those that have a grade and with them."""
    found = {}
    first = Round.objects.filter(project=world.project).earliest("number").pool
    versions = first.snapshot.entries.order_by("position").values_list("version", flat=True)[:6]
    queries = first.pool_queries.order_by("pk").values_list("query", flat=True)
    pairs = [(query, version) for query in queries for version in versions]
    lead, people = lead_of(world.project), [world.people["annotator"]]
    pool = choose_pairs(project=world.project, snapshot=first.snapshot, name="New", pairs=pairs, actor=lead, at=AT)
    for again in (False, True):
        known = known_pairs(pool.snapshot, 5, seed=1)
        round_ = make_round(world.project, pool=pool, annotators=people, known=known, overlap=0.0, judge_again=again)
        seats = Seat.objects.filter(round=round_).values_list("entry__query", "entry__version", "number", "pass_number")
        checks = KnownAnswer.objects.filter(round=round_).values_list(
            "entry__query", "entry__version", "grade", "origin"
        )
        found[f"a round, judged again: {again}"] = f"{sorted(seats)} {sorted(checks)}"
    return found


def new_version(world: World, at: datetime) -> dict[str, str]:
    """The page of a draft of all closed rounds, what it leaves out, and the files of its release."""
    project, lead = world.project, world.people["lead"]
    assert isinstance(lead, User)
    snapshot = Round.objects.filter(project=project).earliest("number").pool.snapshot
    rounds = list(rounds_on(project, snapshot).filter(state=RoundState.CLOSED))
    gold_set = make_gold_set(project, name="Again")
    draft = draft_version(gold_set_id=gold_set.pk, snapshot=snapshot, rounds=rounds, actor=lead, at=at)
    names = ("goldsets:version", "goldsets:left-out", "goldsets:export")
    pages = [(name, reverse(name, args=[project.slug, gold_set.slug, draft.number])) for name in names]
    found = {f"draft {where}": words for where, words in answers(world.askers["lead"], pages).items()}
    release_without_stale(draft, lead, at)
    released = answers(world.askers["lead"], pages)
    return found | {f"release {where}": words for where, words in released.items()}

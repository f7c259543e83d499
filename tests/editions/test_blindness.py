"""Whoever still judges learns nothing of a grade that came along: the same answers everywhere, whatever it was."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from unittest.mock import patch
from urllib.parse import quote

import pytest
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import Project
from apps.corpus.models import BlockVersion
from apps.editions.actions.apply import take_imported
from apps.editions.enums import Choice
from apps.editions.execution import apply
from apps.editions.execution.apply import Taken, TakeOrder
from apps.goldsets.actions.versions import draft_version
from apps.goldsets.models import GoldSet, Version
from apps.judging.models import Judgement
from apps.judging.selectors.rounds import open_rounds_of
from apps.triples.models import ExpectedBlock
from tests.editions.stories import begin_import
from tests.editions.versions import release_without_stale
from tests.endpoints import ENDPOINTS
from tests.factories import lead_of
from tests.fast_client import Asker
from tests.judging.factories import make_round
from tests.world import ROUTES, World

pytestmark = [pytest.mark.django_db, pytest.mark.once, pytest.mark.slow]

SECRET = "PLANTED-NOTE"
CARRIED, CHANGED = 6, 3
APART = re.compile(
    rb'name="(?:csrfmiddlewaretoken|key|started)" value="[^"]+"|"X-CSRFToken": "[^"]+"|data-csrf="[^"]+"|nonce-[^\']+'
    rb'|nonce="[^"]+"|<time [^>]+>[^<]*|[0-9a-f]{64}|[0-9a-f]{4} [0-9a-f]{4} [^ ]+ [0-9a-f]{4}'
)
"""What differs at every request, ages, and digests, which name a version and tell nothing."""


def test_no_answer_to_somebody_who_judges_depends_on_a_grade_that_came_along(world, monkeypatch):
    now = timezone.now()
    # Ages are words of a page, and a minute may pass between the two readings.
    monkeypatch.setattr(timezone, "now", lambda: now)
    low, high = (answers_when_carried(world, grade, now) for grade in (0, 3))

    assert [where for where, words in high.items() if SECRET.encode() in words] == []
    assert sorted(where for where in low.keys() | high.keys() if low.get(where) != high.get(where)) == []


def answers_when_carried(world: World, grade: int, at: datetime) -> dict[str, bytes]:
    """What the annotator of the follow-up round is answered everywhere when all grades that came along are this one."""
    with transaction.atomic():
        taken = take_edition(world.project, grade, at)
        assert taken.carried
        assert taken.round
        person = world.people["annotator"]
        make_round(world.project, pool=taken.carried.pool, annotators=[person], overlap=0.0, judge_again=True)
        assert {taken.round.pk} < set(open_rounds_of(person, world.project).values_list("pk", flat=True))
        release(taken, at)
        asker = world.askers["annotator"]
        answers = {where: asked(asker, *where.split(" ")) for where in questions(world, taken)}
        transaction.set_rollback(True)
    return answers


def take_edition(project: Project, grade: int, at: datetime) -> Taken:
    judged = Judgement.objects.filter(round__project=project).values("entry__version")
    versions = list(BlockVersion.objects.filter(pk__in=judged).select_related("block__document").order_by("pk"))
    expected = set(ExpectedBlock.objects.values_list("version__block", flat=True))
    versions = [version for version in versions if version.block_id not in expected][: CARRIED + CHANGED]
    rows = [
        {
            "block_id": version.block.outside_id,
            "document_id": version.block.document.outside_id,
            "title": version.title,
            "text": f"{version.text} And more.",
        }
        for version in versions
    ]
    decided = {v.block_id: Choice.CARRY if n < CARRIED else Choice.AGAIN for n, v in enumerate(versions)}
    item = begin_import(versions[0].block.corpus, "\n".join(map(json.dumps, rows)), mode="merge")

    def carry_along(*, grades, **more):
        return really(grades=[each._replace(grade=grade, note=f"{SECRET} {grade}") for each in grades], **more)

    really = apply.carry_along
    with patch.object(apply, "carry_along", carry_along):
        order = TakeOrder(decided)
        taken = take_imported(import_id=item.pk, order=order, actor=lead_of(project), at=at).taken
    assert taken is not None
    return taken


def release(taken: Taken, at: datetime) -> Version:
    """A version of the grades that came along alone, which everybody may see once they have judged."""
    assert taken.carried is not None
    lead = lead_of(taken.carried.project)
    gold_set = GoldSet.objects.get(project=taken.carried.project)
    draft = draft_version(gold_set_id=gold_set.pk, snapshot=taken.snapshot, rounds=[taken.carried], actor=lead, at=at)
    return release_without_stale(draft, lead, at)


def questions(world: World, taken: Taken) -> Iterator[str]:
    """Every endpoint of the matrix that an annotator may call, and the pages of what came along."""
    for name in sorted(ROUTES):
        who: Mapping[str, frozenset[str] | None] = ENDPOINTS[name]._asdict()
        for method, allowed in who.items():
            if "annotator" in (allowed or ()):
                yield f"{method} {world.url(name)}"
    project = world.project

    def page(name: str, **kwargs) -> str:
        return "get " + reverse(name, kwargs={"slug": project.slug, **kwargs})

    assert taken.carried
    assert taken.pool
    for pool in (taken.carried.pool, taken.pool):
        yield page("retrieval:pool", pk=pool.pk)
    for entry in taken.carried.pool.entries.select_related("version", "query"):
        yield page("corpus:block", pk=entry.version.block_id)
        yield page("queries:query", pk=entry.query_id)
    for round_ in open_rounds_of(world.people["annotator"], project):
        for name in ("judging:judge", "judging:pairs", "judging:earlier", "judging-api:pairs"):
            yield page(name, pk=round_.pk)
    for sought in ("planted", "carried", taken.carried.name, taken.carried.pool.name):
        yield f"{page('dashboard:search')}?q={quote(sought)}"


def asked(asker: Asker, method: str, url: str) -> bytes:
    answer = asker.answer(method, url, whole=True)
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return f"{answer.status_code} {answer.get('Location', '')} ".encode() + APART.sub(b"", body)

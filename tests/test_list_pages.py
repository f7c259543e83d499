"""Every list page of triples, reviews, agreement and notifications asks as much of the database for 3 items as for 1.

A new list page is one row in `LISTS`; `benchmarks/lists.py` measures the same rows.
"""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.review.enums import VerdictChoice
from apps.triples.actions.triples import refresh_staleness, start_draft
from apps.triples.enums import State
from apps.triples.selectors.triples import newest_snapshot
from tests.factories import AT, lead_of, make_member
from tests.review.factories import CHANGED, answer_both, make_in_review, make_triple
from tests.triples.factories import make_snapshot, make_team, make_wording

pytestmark = pytest.mark.slow

LISTS: dict[str, tuple[str, str]] = {
    "triples": ("triples:list", ""),
    "triples in review": ("triples:list", "?state=in_review"),
    "stale triples": ("triples:list", "?state=stale"),
    "my triples": ("triples:mine", ""),
    "candidates": ("triples:candidates", ""),
    "my work": ("review:queue", ""),
    "the board": ("review:board", ""),
    "stale, by age": ("review:stale", ""),
    "agreement": ("agreement:overview", ""),
    "agreement by query": ("agreement:differences", "?by=query"),
    "what to tighten": ("agreement:improve", ""),
    "pairs people differ on": ("agreement:items", ""),
    "annotators": ("agreement:people", ""),
    "quality log": ("calibration:log", ""),
    "flag rates": ("calibration:rates", ""),
    "calibrations": ("calibration:calibrations", ""),
    "notifications": ("notifications:list", ""),
    "home": ("dashboard:home", ""),
    "triples over the API": ("triples-api:list", ""),
    "my reviews over the API": ("review-api:queue", ""),
}


def make_crowded(size: int) -> tuple[Project, list]:
    """A project with `size` triples of every kind, a person who holds every role, and a lead without a part."""
    project = make_team(reviewers=1)
    chief = make_member(project, Role.ANNOTATOR, Role.REVIEWER, Role.LEAD, name="Chief")
    snapshot = newest_snapshot(project)
    for _ in range(size):
        make_triple(project, State.ACCEPTED, snapshot=snapshot)
    newer = make_snapshot(project, CHANGED, corpus=snapshot.corpus)
    refresh_staleness(project=project, snapshot=newer, at=AT)
    for _ in range(size):
        for state in (State.DRAFT, State.WITHDRAWN, State.IN_REVIEW, State.DISPUTED, State.SPLIT, State.DROPPED):
            make_triple(project, state, snapshot=snapshot)
        answer_both(make_in_review(project, snapshot=snapshot), VerdictChoice.FLAG, VerdictChoice.FLAG)
        more = {"author": chief, "snapshot": snapshot, "wording": make_wording(snapshot), "at": AT}
        start_draft(project=project, **more)
        start_draft(project=project, is_machine_written=True, **more)
    return project, [chief, lead_of(project)]


def queries_of(project: Project, people: list) -> dict[str, int]:
    asked = {}
    for number, person in enumerate(people):
        client = Client()
        client.force_login(person)
        for title, (name, query) in LISTS.items():
            url = reverse(name, args=[project.slug]) + query
            client.get(url)
            with CaptureQueriesContext(connection) as queries:
                status = client.get(url).status_code
            assert status == 200 or (number and status == 403), (url, status)
            asked[f"{title} as {number}"] = len(queries)
    return asked


@pytest.mark.django_db
def test_every_list_page_runs_as_many_queries_for_three_items_as_for_one():
    one = queries_of(*make_crowded(1))

    three = queries_of(*make_crowded(3))

    assert three == one
    assert max(three.values()) < 40

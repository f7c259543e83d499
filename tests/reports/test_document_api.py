"""Reports over the API: the bytes of the pages, and nothing that a page would not tell the same person."""

import re

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.goldsets.enums import Split, VersionState
from apps.goldsets.selectors.versions import TEST_SEEN
from tests.evaluation.factories import Scene, ask, make_scene, score
from tests.factories import make_member

pytestmark = pytest.mark.django_db
NAMES = ("evaluation", "comparison", "version")


@pytest.fixture
def places(scene) -> dict[str, list[int]]:
    """What each report is of: a score, two of them, the version."""
    keys = [score(scene, tag, measures="nDCG@10 AP").pk for tag in ("better", "base")]
    return {"evaluation": keys[:1], "comparison": keys, "version": [scene.version.pk]}


def address(scene: Scene, name: str, places: list[int], side: str = "reports-api") -> str:
    return reverse(f"{side}:{name}", args=[scene.project.slug, *places])


@pytest.mark.parametrize(("form", "kind"), [("html", "text/html"), ("md", "text/markdown")])
def test_the_bytes_are_those_of_the_pages(client, scene, places, form, kind):
    client.force_login(scene.lead)

    for name in NAMES:
        told = client.get(address(scene, name, places[name]), {"format": form})
        page = client.get(address(scene, name, places[name], "reports"), {"format": form})

        assert (told.status_code, told["Content-Type"]) == (200, f"{kind}; charset=utf-8")
        assert told["Content-Disposition"] == page["Content-Disposition"]
        assert told.content == page.content


def test_html_is_the_default_format(client, scene, places):
    client.force_login(scene.lead)

    assert client.get(address(scene, "evaluation", places["evaluation"])).content.startswith(b"<!doctype html>")


def test_a_comparison_uses_the_requested_measure(client, scene, places):
    client.force_login(scene.lead)

    told = client.get(address(scene, "comparison", places["comparison"]), {"measure": "AP"})

    assert re.search(r"<h1>[^<]*\bAP\b", told.content.decode().replace("\N{NO-BREAK SPACE}", " "))


def test_test_queries_are_shown_to_leads_alone_and_their_look_is_recorded(client, scene, places):
    sealed = set(scene.version.queries.filter(split=Split.TEST).values_list("outside_id", flat=True))
    people = {"viewer": make_member(scene.project, Role.VIEWER), "lead": scene.lead}

    for name in NAMES[:2]:
        named, looks = {}, {}
        for role, person in people.items():
            client.force_login(person)
            before = Event.objects.filter(action=TEST_SEEN).count()
            told = client.get(address(scene, name, places[name]), {"format": "md"}).content.decode()
            named[role] = set(re.findall(r"`(Q\d+)`", told))
            looks[role] = Event.objects.filter(action=TEST_SEEN).count() - before

        assert not sealed & named["viewer"]
        assert sealed < named["lead"]
        assert looks == {"viewer": 0, "lead": 1}


def test_a_version_that_is_not_released_is_shown_to_leads_alone(client):
    scene = make_scene(state=VersionState.FROZEN)
    status = {}
    for role, person in (("viewer", make_member(scene.project, Role.VIEWER)), ("lead", scene.lead)):
        client.force_login(person)
        status[role] = client.get(address(scene, "version", [scene.version.pk])).status_code

    assert status == {"viewer": 404, "lead": 200}


def test_a_request_whose_job_has_not_ended_has_no_report(client, scene):
    waiting = ask(scene, "base", measures="AP")
    client.force_login(scene.lead)

    response = client.get(address(scene, "evaluation", [waiting.pk]))

    assert (response.status_code, response.json()["code"]) == (409, "waiting")


@pytest.mark.parametrize("query", [{"format": "pdf"}, {"colour": "red"}])
def test_what_nobody_knows_is_refused(client, scene, places, query):
    client.force_login(scene.lead)

    for name in NAMES:
        assert client.get(address(scene, name, places[name]), query).status_code == 400

"""The page, the API and the command give the same file."""

import re
import sys

import pytest
from django.core.management import call_command
from django.urls import reverse

from apps.accounts.enums import Role
from apps.review.selectors.exports import STATES
from apps.triples.enums import State
from apps.triples.formats import WRITTEN
from tests.factories import AT, lead_of, make_member, make_project
from tests.review.exporting.taking import entries, exported
from tests.review.exporting.test_left_out import sourced
from tests.review.factories import make_accepted, make_triple

pytestmark = pytest.mark.django_db


def test_page_and_file(client, team):
    make_accepted(team)
    client.force_login(make_member(team, Role.REVIEWER))

    page = client.get(reverse("review:export", args=[team.slug]))
    file = client.get(reverse("review:export-file", args=[team.slug]) + "?format=yaml")

    assert "Download YAML" in page.content.decode()
    assert b"".join(file.streaming_content).startswith(b'- id: "T-0001"\n')
    assert file["Content-Disposition"] == f'attachment; filename="{team.slug}-triples-accepted.yaml"'
    assert file["X-Content-Type-Options"] == "nosniff"


def test_one_form_chooses_the_state_and_gives_the_file(client, team):
    """Without a press of “Show” the file is of the state that is chosen all the same."""
    make_triple(team, State.DISPUTED)
    client.force_login(make_member(team, Role.REVIEWER))

    page = client.get(reverse("review:export", args=[team.slug])).content.decode()
    (form,) = re.findall(r'<form class="stack" method="get">.*?</form>', page, re.S)

    assert 'name="state"' in form
    assert set(re.findall(r'name="format" value="(\w+)" formaction="([^"]+)"', form)) == {
        (name, reverse("review:export-file", args=[team.slug])) for name in WRITTEN
    }


def test_the_page_shows_how_many_triples_the_file_contains(client, team, monkeypatch):
    for _ in range(2):
        make_triple(team, State.DISPUTED)
    client.force_login(make_member(team, Role.REVIEWER))

    def text_of_page(state: str) -> str:
        page = client.get(reverse("review:export", args=[team.slug]), {"state": state}).content.decode()
        return re.sub(r"<[^>]+>", "", page)

    assert "Disputed: 2 Q&amp;As in the file." in text_of_page("disputed")
    assert "Accepted: no Q&amp;As." in text_of_page("accepted")
    monkeypatch.setattr("apps.review.selectors.exports.MOST_COUNTED", 2)
    assert "Disputed: 2 or more Q&amp;As in the file." in text_of_page("disputed")


@pytest.mark.parametrize("state", STATES)
def test_the_page_shows_every_state(client, team, state):
    client.force_login(lead_of(team))

    assert client.get(reverse("review:export", args=[team.slug]), {"state": state}).status_code == 200


def test_the_api_streams_the_same_and_reports_what_it_leaves_out(client, team):
    sourced(team, revoked_at=AT, revoked_by=lead_of(team), revocation_reason="Asked to")
    make_accepted(team)
    client.force_login(lead_of(team))
    base = f"/api/v1/projects/{team.slug}/triples/export/"

    file = client.get(base, {"format": "jsonl"})
    report = client.get(f"{base}report/").json()

    assert b"".join(file.streaming_content) == exported(team, person=lead_of(team))
    assert report == [
        {"reason": "RFPs had its permission revoked", "count": 1, "triples": ["T-0001"]},
    ]
    assert client.get(base, {"format": "xml"}).status_code == 400
    assert client.get(base, {"source__slug": "x"}).status_code == 400


def test_the_command_writes_to_a_new_file_or_to_stdout(team, tmp_path, capfdbinary):
    make_accepted(team)
    out = tmp_path / "gold.jsonl"

    call_command("export_triples", project=team.slug, out=out)
    call_command("export_triples", project=team.slug)
    sys.stdout.flush()

    assert out.read_bytes() == exported(team)
    assert exported(team) in capfdbinary.readouterr().out


@pytest.mark.parametrize("number", [1, 3])
def test_a_page_of_the_file_costs_the_same_number_of_queries(team, number, django_assert_num_queries):
    for _ in range(number):
        make_accepted(team)

    with django_assert_num_queries(6):
        assert len(entries(team)) == number


def test_a_form_that_is_only_read_is_refused_and_not_a_server_error(client):
    project = make_project()
    client.force_login(lead_of(project))

    answer = client.get(reverse("triples-export:file", args=[project.slug]), {"format": "parquet"})

    assert (answer.status_code, answer.json()["code"]) == (400, "unknown_form")

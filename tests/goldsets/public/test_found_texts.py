"""What was found in a version and must not go out: shown with its places, and let out on the record."""

import json
import zipfile
from dataclasses import replace

import pytest
from django.db import connection
from django.urls import reverse

from apps.audit.models import Event
from apps.common.database import triggers
from apps.goldsets.actions.public import PublicReleaseRefused, decide_public_texts
from apps.goldsets.execution.publishing import stored_zip
from apps.queries.models import Query
from tests.factories import AT
from tests.goldsets.factories import make_bench
from tests.goldsets.public.factories import ORDER, done, make_publishable, make_second_lead, prepare, publish, sign
from tests.goldsets.public.test_public_api import post

pytestmark = pytest.mark.django_db
ADDRESS, NUMBER = "jane.doe@example.com", "+44 20 7946 0958"


def make_version_with_addresses():
    bench = make_bench(queries=3, triples=1)
    first, second = Query.objects.filter(project=bench.project).order_by("pk")[:2]
    connection.check_constraints()
    statements = triggers.drop_all(connection)
    Query.objects.filter(pk=first.pk).update(text=f"Why does {ADDRESS} not get in? She waits at {NUMBER}")
    Query.objects.filter(pk=second.pk).update(intent=f"Asked by {ADDRESS}")
    connection.check_constraints()
    triggers.restore_all(connection, statements)
    return make_publishable(bench)


def public_bytes(release) -> str:
    with stored_zip(release) as stream, zipfile.ZipFile(stream) as archive:
        return "".join(archive.read(name).decode() for name in archive.namelist() if not name.startswith("client/"))


def test_an_address_and_a_number_stay_in_are_shown_and_go_out_once_a_lead_says_why(client):
    version = make_version_with_addresses()
    release, lead = prepare(version), version.created_by

    assert [(stay.kind, stay.reason) for stay in release.stays.all()] == [("queries", "personal")]
    assert ADDRESS not in public_bytes(release)
    hits = {hit["text"]: (hit["what"], hit["number"]) for hit in release.report["hits"]}
    assert hits == {ADDRESS: ("e-mail address", 2), NUMBER: ("telephone number", 1)}
    client.force_login(lead)
    names = [version.gold_set.project.slug, version.gold_set.slug, version.number]
    page = client.get(reverse("goldsets:public", args=names)).content.decode()
    assert all(words in page for words in (ADDRESS, "e-mail address, 2 places", NUMBER, "(intent, goes out empty)"))

    one = {"release_id": release.pk, "allowed": True, "actor": lead, "at": AT}
    for texts, reason, words in (
        ([ADDRESS], " ", "reason"),
        ([], "Ours.", "Choose"),
        (["other"], "Ours.", "not among"),
    ):
        with pytest.raises(PublicReleaseRefused, match=words):
            decide_public_texts(texts=texts, reason=reason, **one)
    path = reverse("goldsets:public-decide", args=names)
    form = {"text": [ADDRESS, NUMBER], "allowed": "yes", "reason": "The address of our own desk."}
    client.post(path, form)
    release = done(release)

    assert (release.stays.count(), release.report["hits"]) == (0, [])
    assert ADDRESS in public_bytes(release)
    assert NUMBER in public_bytes(release)
    event = Event.objects.get(action="public_release.texts_decided")
    told = {name: event.after[name] for name in ("texts", "allowed", "reason")}
    assert (event.actor, told) == (lead, {"texts": [NUMBER, ADDRESS], "allowed": True, "reason": form["reason"]})
    page = client.get(reverse("goldsets:public", args=names)).content.decode()
    assert "What goes out all the same" in page
    assert form["reason"] in page

    answer = post(client, "public-decide", version, texts=[NUMBER], allowed=False, reason="A private number.")
    assert answer.status_code == 202, answer.content
    release = done(release)
    assert [hit["text"] for hit in release.report["hits"]] == [NUMBER]
    released = publish(sign(release, make_second_lead(version)))
    assert NUMBER not in public_bytes(released)
    with pytest.raises(PublicReleaseRefused, match="no longer changes"):
        decide_public_texts(texts=[NUMBER], reason="Late.", **one)


@pytest.mark.parametrize("text", [ADDRESS, NUMBER, "AKIAIOSFODNN7EXAMPLE", "4111 1111 1111 1111"])
@pytest.mark.parametrize("place", ["title", "holder", "card"])
def test_detectors_read_what_people_write_for_the_release_too(text, place, version):
    values = {place: f"By {text}"} if place != "card" else {"card": {"about": f"Ask {text}."}}

    release = prepare(version, replace(ORDER, **values))

    assert release.report["forbidden"] == ["DATA_CARD.md" if place == "card" else "README.md", text]
    assert json.dumps(release.report)

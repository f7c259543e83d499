"""Public releases over the API: every step of the page, for the same people."""

import hashlib
import re

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.goldsets.enums import PublicState
from apps.goldsets.models import PublicLook
from apps.goldsets.selectors.public import public_release
from tests.factories import make_member
from tests.goldsets.factories import make_bench
from tests.goldsets.public.factories import (
    make_public_release,
    make_publishable,
    make_second_lead,
    prepare_again,
    revoke_all,
)
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db
CHOICES = {"title": "Handbook", "licence": "CC-BY-4.0", "splits": ["dev", "test"]}


def url(name: str, version, *more) -> str:
    gold_set = version.gold_set
    return reverse(f"goldsets-api:{name}", args=[gold_set.project.slug, gold_set.slug, version.number, *more])


def post(client, name: str, version, **body):
    return client.post(url(name, version), body, content_type="application/json")


def test_two_leads_release_a_version_without_a_page(client):
    version = make_publishable(make_bench(queries=3, triples=2))
    second = make_second_lead(version)

    client.force_login(version.created_by)
    answer = post(client, "public", version, **CHOICES)
    assert (answer.status_code, answer.json()["state"], answer.json()["is_waiting"]) == (202, "preparing", True)
    run_jobs()
    facts = client.get(url("public", version)).json()
    assert (facts["state"], facts["is_waiting"], facts["failure"]) == ("prepared", False, "")
    assert facts["report"]["counts"]["triples"] == {"inside": 2, "going": 2}
    assert facts["leads"] == [{"id": second.pk, "name": second.name}]
    assert post(client, "public-ask", version, lead=second.pk).json()["asked"] == second.name

    client.force_login(second)
    assert "Open the preview first" in post(client, "public-sign", version).json()["detail"]
    record = client.get(url("public-preview", version, "triples", 2)).json()
    assert (record["number"], record["total"]) == (2, 2)
    author = next(line for line in record["lines"] if line["name"] == "metadata.added_by")
    assert (author["struck"], author["inserted"]) == ('"Author"', '"P1"')
    assert PublicLook.objects.get().person == second
    assert post(client, "public-sign", version).status_code == 202
    run_jobs()
    assert post(client, "public-release", version).status_code == 202
    run_jobs()

    client.force_login(make_member(version.gold_set.project, Role.VIEWER))
    data = b"".join(client.get(url("public-file", version)).streaming_content)
    release = version.public_releases.get()
    assert (release.state, hashlib.sha256(data).hexdigest()) == (PublicState.RELEASED, release.digest)
    assert len(data) == release.size


def test_what_stays_in_is_listed_a_page_at_a_time(client):
    bench = make_bench(queries=3, triples=2)
    release = make_public_release(PublicState.PREPARED, make_publishable(bench))
    bench.project.policies = {**bench.project.policies, "internal_words": "the"}
    bench.project.save()
    release = prepare_again(release)
    stays = release.stays.count()
    client.force_login(release.prepared_by)

    names, after = [], ""
    while after is not None:
        page = client.get(url("public-exclusions", release.version), {"limit": 2, "after": after}).json()
        names += [row["name"] for row in page["results"]]
        after = page["next"]
    assert stays > 2
    assert names == list(release.stays.order_by("pk").values_list("name", flat=True))
    some = client.get(url("public-exclusions", release.version), {"kind": "passages", "reason": "word"}).json()[
        "results"
    ]
    assert {(row["kind"], row["sentence"]) for row in some} == {("passages", "An internal word cannot be taken out")}


def test_a_refused_signature_says_why(client):
    bench = make_bench()
    release = make_public_release(PublicState.PREPARED, make_publishable(bench))
    client.force_login(make_second_lead(release.version))
    client.get(url("public-preview", release.version, "triples", 1))
    revoke_all(bench)
    post(client, "public-sign", release.version)
    run_jobs()

    facts = client.get(url("public", release.version)).json()
    assert facts["state"] == "prepared"
    assert re.search(r"has changed since it was prepared.*prepare it again", facts["failure"])


def test_a_withdrawn_release_is_in_the_list_and_no_longer_given_out(client):
    release = make_public_release(PublicState.RELEASED)
    client.force_login(release.prepared_by)

    assert post(client, "public-withdraw", release.version, reason=" ").status_code == 400
    assert post(client, "public-withdraw", release.version, reason="A mistake.").json()["state"] == "withdrawn"
    assert client.get(url("public-file", release.version)).status_code == 404
    rows = client.get(url("public-list", release.version)).json()
    assert [(row["id"], row["withdrawal_reason"]) for row in rows] == [(release.pk, "A mistake.")]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"title": ""}, "title"),
        ({"licence": "mine"}, "licence"),
        ({"splits": []}, "splits"),
        ({"card": {"unknown": "text"}}, "card"),
    ],
)
def test_a_wrong_choice_is_named(client, body, field):
    version = make_publishable()
    client.force_login(version.created_by)

    answer = post(client, "public", version, **{**CHOICES, **body})
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [field])


def test_a_card_is_sent_and_kept_when_it_is_prepared_again(client):
    version = make_publishable()
    client.force_login(version.created_by)
    post(client, "public", version, **CHOICES, card={"gaps": "Nothing on suppliers."})
    run_jobs()
    post(client, "public", version, **{**CHOICES, "title": "Another"})
    run_jobs()

    release = public_release(version.public_releases.get().pk)
    assert (release.title, release.card["gaps"]) == ("Another", "Nothing on suppliers.")


def test_an_unreleased_version_has_no_public_release(client):
    release = make_public_release(PublicState.PREPARED)
    client.force_login(make_member(release.version.gold_set.project, Role.ANNOTATOR))

    assert client.get(url("public", release.version)).status_code == 403
    assert client.get(url("public-file", release.version)).status_code == 403

"""Revoking a permission retires what rests on it, and says before what that is."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.goldsets.enums import PublicState
from apps.goldsets.selectors.public import no_longer_public
from apps.queries.actions import revoke_permission
from apps.queries.enums import PermissionScope
from apps.queries.execution.revoking import resting_on
from apps.queries.models import Query
from apps.triples.enums import RetireReason, State
from tests.factories import AT
from tests.goldsets.factories import make_bench
from tests.goldsets.public.factories import make_public_release, make_publishable

pytestmark = pytest.mark.django_db


def revoke(bench) -> None:
    for permission in bench.source.permissions.filter(revoked_at=None):
        revoke_permission(permission_id=permission.pk, reason="Contract ended.", actor=bench.lead, at=AT)


def test_the_qas_that_rest_on_a_source_are_retired_with_its_queries():
    bench = make_bench(triples=2)
    bench.project.triples.update(source=bench.source)
    revoke(bench)

    assert set(bench.project.triples.values_list("state", "retire_reason")) == {
        (State.RETIRED, RetireReason.PERMISSION_REVOKED)
    }
    assert not Query.objects.filter(project=bench.project, retired_at=None).exists()


def test_while_another_permission_stands_nothing_is_retired():
    bench = make_bench()
    bench.project.triples.update(source=bench.source)
    make_publishable(bench)
    first = bench.source.permissions.earliest("pk")
    revoke_permission(permission_id=first.pk, reason="Replaced.", actor=bench.lead, at=AT)

    assert bench.project.triples.get().state == State.ACCEPTED


def test_what_rests_on_it_is_told_before():
    bench = make_bench(triples=2)
    release = make_public_release(PublicState.RELEASED, make_publishable(bench))

    assert [tuple(row) for row in resting_on(bench.source)] == [
        ("2 accepted Q&As", "are retired"),
        ("Handbook v1", "marked, and later downloads leave its items out"),
        ("the public release of Handbook v1", "marked, for you to withdraw"),
    ]
    client = Client()
    client.force_login(bench.lead)
    page = client.get(reverse("queries:source", args=[bench.project.slug, bench.source.pk]))
    assert "2 accepted Q&amp;As: are retired" in page.content.decode()
    assert no_longer_public(release, at=AT) == []


def test_a_public_release_is_marked_by_the_name_of_the_source():
    bench = make_bench()
    release = make_public_release(PublicState.RELEASED, make_publishable(bench))
    revoke(bench)

    assert no_longer_public(release, at=AT) == [bench.source.name]


def test_a_public_release_is_marked_when_the_permission_that_is_left_says_internal():
    bench = make_bench()
    release = make_public_release(PublicState.RELEASED, make_publishable(bench))
    bench.source.permissions.update(scope=PermissionScope.INTERNAL)

    assert no_longer_public(release, at=AT) == [bench.source.name]


@pytest.mark.parametrize("state", [PublicState.PREPARED, PublicState.SIGNED])
def test_the_dialog_names_a_public_release_that_is_not_out_yet(state):
    bench = make_bench()
    make_public_release(state, make_publishable(bench))

    assert tuple(resting_on(bench.source)[-1]) == (
        "the public release of Handbook v1",
        "marked, and can no longer go out as it is",
    )


def test_the_list_of_versions_marks_those_that_are_public_and_those_that_rest_on_a_revoked_permission():
    bench = make_bench()
    make_public_release(PublicState.RELEASED, make_publishable(bench))
    client = Client()
    client.force_login(bench.lead)
    address = reverse("goldsets:list", args=[bench.project.slug])

    before = client.get(address).content.decode()
    revoke(bench)
    after = client.get(address).content.decode()

    assert ", public" in before
    assert "has material whose permission was revoked" not in before
    assert "has material whose permission was revoked" in after


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (PublicState.RELEASED, "The public file still has the material"),
        (PublicState.PREPARED, "Prepare it again; until then nobody can sign."),
        (PublicState.SIGNED, "as it is it cannot go out"),
    ],
)
def test_the_page_of_a_public_release_says_what_to_do_about_a_revoked_permission(state, words):
    bench = make_bench()
    make_public_release(state, make_publishable(bench))
    revoke(bench)
    client = Client()
    client.force_login(bench.lead)
    gold_set = bench.project.gold_sets.get()
    page = client.get(reverse("goldsets:public", args=[bench.project.slug, gold_set.slug, 1])).content.decode()

    assert f"{bench.source.name} may not be published any more" in page
    assert words in page

"""Retiring several triples over the API: all of them, or none."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.triples.enums import State
from tests.factories import lead_of, make_member
from tests.review.factories import make_disputed, make_triple, reload
from tests.triples.factories import make_team

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_team()


@pytest.fixture
def retire(client, project):
    def retire(person, *triples, **more):
        client.force_login(person)
        body = {"triples": [getattr(triple, "pk", triple) for triple in triples], "reason": "block_gone"} | more
        address = reverse("triples-api:retire-many", args=[project.slug])
        return client.post(address, body, content_type="application/json")

    return retire


def test_stale_and_accepted_triples_are_retired_for_one_reason(project, retire):
    triples = [make_triple(project, State.ACCEPTED, stale=True), make_triple(project, State.ACCEPTED)]

    answer = retire(lead_of(project), *triples)

    assert (answer.status_code, answer.json()) == (200, {"retired": 2})
    assert [reload(triple).retire_reason for triple in triples] == ["block_gone"] * 2
    assert Event.objects.filter(project=project, action="triple.retire").count() == 2


def test_with_one_that_is_not_accepted_none_is_retired(project, retire):
    accepted, disputed = make_triple(project, State.ACCEPTED), make_disputed(project)

    answer = retire(lead_of(project), accepted, disputed)

    assert (answer.status_code, answer.json()["code"]) == (409, "not_retirable")
    assert disputed.label in answer.json()["detail"]
    assert reload(accepted).state == State.ACCEPTED


def test_with_one_of_another_project_none_is_retired(project, retire):
    accepted, other = make_triple(project, State.ACCEPTED), make_triple(make_team(), State.ACCEPTED)

    assert retire(lead_of(project), accepted, other).status_code == 400
    assert {reload(triple).state for triple in (accepted, other)} == {State.ACCEPTED}


@pytest.mark.parametrize(
    ("triples", "more"), [([], {}), (["T-0001"], {}), ([-1], {}), ([1], {"reason": "dull"}), ([2**80], {})]
)
def test_a_wrong_body_is_refused(project, retire, triples, more):
    assert retire(lead_of(project), *triples, **more).status_code == 400


def test_only_a_lead_retires(project, retire):
    triple = make_triple(project, State.ACCEPTED)

    assert retire(make_member(project, Role.ANNOTATOR), triple).status_code == 403
    assert reload(triple).state == State.ACCEPTED

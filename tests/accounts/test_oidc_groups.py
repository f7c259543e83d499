"""Groups of the provider give roles, by the table of the operator."""

import pytest

from apps.accounts.actions.projects import archive_project, set_roles
from apps.accounts.core.oidc.configuration import GroupRole
from apps.accounts.selectors import roles_of
from apps.audit.models import Event
from tests.accounts.sso import link, refusal_of
from tests.factories import AT, lead_of, make_member, make_project, make_user

pytestmark = pytest.mark.django_db


TABLE = (
    GroupRole("readers", "hut", "viewer"),
    GroupRole("graders", "hut", "annotator"),
    GroupRole("bosses", "hut", "lead"),
)


@pytest.fixture
def hut(allow):
    allow(roles=TABLE)
    return make_project("Hut")


@pytest.fixture
def mara(provider):
    return link(make_user("Mara"), provider)


def test_groups_give_the_roles_of_the_table_and_each_is_recorded(provider, browser, mara, hut):
    provider.person["groups"] = ["readers", "graders", "unheard of"]

    browser.sign_in()

    assert roles_of(mara, hut) == {"viewer", "annotator"}
    changed = Event.objects.get(project=hut, action="membership.changed", actor=None)
    assert changed.after == {"roles": ["annotator", "viewer"]}


def test_leaving_a_group_ends_its_role_and_no_other(provider, browser, mara, hut):
    set_roles(project=hut, user=mara, roles=["viewer", "reviewer"], actor=lead_of(hut), at=AT)
    provider.person["groups"] = []

    browser.sign_in()

    assert roles_of(mara, hut) == {"reviewer"}


def test_no_groups_in_the_token_are_none(provider, browser, hut):
    user = link(make_member(hut, "viewer"), provider)

    browser.sign_in()

    assert roles_of(user, hut) == frozenset()


def test_the_last_lead_stays_lead(provider, browser, hut):
    lead = link(lead_of(hut), provider)

    browser.sign_in()

    assert roles_of(lead, hut) == {"lead"}


def test_an_archived_project_and_one_that_is_not_there_change_nothing(provider, browser, mara, hut, allow):
    allow(roles=(*TABLE, GroupRole("readers", "nowhere", "viewer")))
    archive_project(project_id=hut.pk, actor=lead_of(hut), at=AT)
    provider.person["groups"] = ["readers"]

    browser.sign_in()

    assert browser.user == mara
    assert roles_of(mara, hut) == frozenset()


def test_nobody_loses_roles_because_the_provider_left_the_groups_out(provider, browser, hut):
    user = link(make_member(hut, "viewer"), provider)
    provider.claims["_claim_names"] = {"groups": "src1"}

    assert refusal_of(browser.sign_in()) == "too_many_groups"
    assert roles_of(user, hut) == {"viewer"}


def test_a_single_group_may_be_a_word_under_a_name_of_the_operators(provider, browser, mara, hut, allow):
    allow(roles=TABLE, groups_claim="roles")
    provider.person["roles"] = "readers"

    browser.sign_in()

    assert roles_of(mara, hut) == {"viewer"}

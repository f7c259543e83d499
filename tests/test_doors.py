"""Doors that tools of this kind leave open: a staff site, an API to click through, accounts and keys that all know."""

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from apps.accounts.models import ApiToken, Project, User
from tests.factories import lead_of, make_project

pytestmark = [pytest.mark.django_db, pytest.mark.once]

DOORS = [
    "/admin/",
    "/admin/login/",
    "/django-admin/",
    "/staff/",
    "/api-auth/login/",
    "/api/auth/login/",
    "/api/docs/?format=api",
    "/__debug__/",
    "/silk/",
    "/flower/",
    "/graphql",
    "/metrics",
    "/.env",
    "/.git/config",
    "/media/",
    "/data/karat.sqlite3",
]
WELL_KNOWN = [
    (name, word) for name in ("admin", "admin@example.com", "root", "karat") for word in ("admin", "karat", "")
]


@pytest.fixture
def operator(client) -> Client:
    """The most that anybody may be: an operator who leads."""
    person = lead_of(make_project())
    person.is_operator = True
    person.save()
    client.force_login(person)
    return client


@pytest.mark.parametrize("path", DOORS)
def test_behind_well_known_addresses_there_is_nothing_for_anybody(operator, path):
    assert {Client().get(path).status_code, operator.get(path).status_code} <= {404, 301}
    assert operator.get(path, follow=True).status_code == 404


def test_no_part_brings_a_staff_site_or_a_toolbar():
    known = {"django.contrib.admin", "rest_framework.authtoken", "debug_toolbar", "django_browser_reload", "silk"}

    assert known & set(settings.INSTALLED_APPS) == set()


@pytest.mark.parametrize("asked", ["text/html", "text/html,application/xhtml+xml,*/*;q=0.8", "application/xml"])
def test_the_api_is_not_to_be_clicked_through(operator, asked):
    address = reverse("corpus-api:snapshots", args=[Project.objects.get().slug])

    for query in ({}, {"format": "api"}, {"format": "html"}):
        answer = operator.get(address, query, headers={"Accept": asked})
        assert answer.status_code in {200, 403, 404, 406}
        assert answer["Content-Type"] in {"application/json", "application/problem+json"}


def test_a_fresh_database_knows_nobody_and_no_token():
    assert (User.objects.count(), ApiToken.objects.count()) == (0, 0)


@pytest.mark.parametrize(("name", "password"), WELL_KNOWN)
def test_nobody_gets_in_under_a_well_known_name(client, name, password):
    client.post(reverse("accounts:login"), {"email": name, "username": name, "password": password})

    assert "_auth_user_id" not in client.session

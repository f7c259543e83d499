"""The documents, served by the app itself."""

import pytest
from django.urls import reverse

from apps.dashboard.pages.manual import files
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(client):
    client.force_login(make_user())
    return client


def page(name):
    return reverse("dashboard:manual-file", args=[name])


@pytest.mark.parametrize("name", [name for name in files() if name.endswith(".md")])
def test_every_page_is_served_with_its_title(reader, name):
    answer = reader.get(page(name))

    assert answer.status_code == 200
    assert "<h1" in answer.content.decode()


def test_the_contents_list_every_page(reader):
    text = reader.get(reverse("dashboard:manual")).content.decode()

    assert [name for name in files() if name.endswith(".md") and page(name) not in text] == []


def test_pictures_come_with_their_kind(reader):
    answer = reader.get(page("images/judging.png"))

    assert (answer.status_code, answer["Content-Type"]) == (200, "image/png")


@pytest.mark.parametrize("name", ["../README.md", "reference/../../manage.py", "nothing.md", "reference", "%2e%2e/x"])
def test_nothing_else_is_served(reader, name):
    assert reader.get(f"/docs/{name}").status_code in {301, 404}
    assert reader.get(page(name)).status_code == 404


def test_strangers_sign_in_first(client):
    assert client.get(page("glossary.md")).status_code == 302

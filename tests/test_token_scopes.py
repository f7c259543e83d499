"""What a token may do: at every endpoint of a project and by every method, what its scope says and nothing else."""

import re
from datetime import timedelta

import pytest
from django.urls import resolve
from django.utils import timezone

from apps.accounts.access.api import scopes_of
from apps.accounts.actions.tokens import create_token
from apps.accounts.enums import Scope
from apps.accounts.models import Project, User
from tests.endpoints import ENDPOINTS
from tests.fast_client import Asker, without_words
from tests.world import OF_PROJECTS, ROLE_HOLDERS, ROUTES, is_of_the_api

pytestmark = [pytest.mark.django_db, pytest.mark.once]

OF_THE_API = [name for name in OF_PROJECTS if is_of_the_api(name)]
METHODS = ("get", "head", "post")
# Reading them is a part of the work that the scope is for: claims of one's own, and what one may be told of others.
# To open the preview of a public release is a part of signing it.
READ_BY_THOSE_WHO_WRITE = {
    Scope.JUDGING_WRITE,
    Scope.REVIEW_WRITE,
    Scope.ROUNDS_WRITE,
    Scope.RUNS_WRITE,
    Scope.TRIPLES_WRITE,
    Scope.VERSIONS_WRITE,
}


def headers_of(project: Project, standing: str, *scopes: str) -> dict[str, str]:
    """What a machine sends that holds a token of that person with those scopes."""
    person = User.objects.get(email=ROLE_HOLDERS[standing])
    token = {"name": f"Scopes of {standing}", "at": timezone.now(), "lasts": timedelta(days=1)}
    _, secret = create_token(project=project, user=person, scopes=scopes, **token)
    return {"HTTP_AUTHORIZATION": f"Bearer {secret}"}


def required_scopes(name: str) -> dict[str, tuple[str, ...]]:
    """By method, the scopes that an endpoint says a token needs."""
    url = "/" + re.sub(r"<(\w+:)?\w+>", "1", ROUTES[name])
    view = resolve(url).func.view_class
    return {method: scopes_of(view, method) for method in view.scopes}


def needed(name: str, method: str) -> tuple[str, ...]:
    return required_scopes(name)["GET" if method == "head" else method.upper()]


def allowed(name: str, method: str) -> frozenset[str]:
    row = ENDPOINTS[name]
    return (row.post if method == "post" else row.get) or frozenset()


@pytest.mark.parametrize("name", OF_THE_API)
def test_a_token_needs_the_scope_of_the_method_and_no_other(world, name):
    asker, url, wrong = Asker(), world.url(name), {}

    with without_words():
        for method in METHODS:
            standing = next((one for one in ROLE_HOLDERS if one in allowed(name, method)), None)
            if standing is None:
                continue
            scopes = needed(name, method)
            for scope in scopes:
                lacking = headers_of(world.project, standing, *(set(Scope.values) - {scope}))
                if (status := asker.status(method, url, **lacking)) != 403:
                    wrong[f"{method} with every scope but {scope}"] = status
            enough = headers_of(world.project, standing, *scopes)
            if (status := asker.status(method, url, **enough)) in {401, 403}:
                wrong[f"{method} with {scopes} alone"] = status

    assert wrong == {}


@pytest.mark.parametrize("name", OF_THE_API)
def test_a_token_does_no_more_than_its_owner_may(world, name, pytestconfig):
    asker, url, wrong = Asker(), world.url(name), {}

    with without_words():
        for standing in ROLE_HOLDERS if pytestconfig.option.all else ("viewer",):  # who may least
            everything = headers_of(world.project, standing, *Scope.values)
            for method in METHODS:
                status = asker.status(method, url, **everything)
                row = ENDPOINTS[name]
                exists = (row.post if method == "post" else row.get) is not None
                if standing not in allowed(name, method) and status != (403 if exists else 405):
                    wrong[f"{method} as {standing}"] = status

    assert wrong == {}


@pytest.mark.parametrize("name", OF_THE_API)
def test_a_token_of_another_project_finds_nothing(world, name):
    asker, url = Asker(), world.url(name)

    with without_words():
        theirs = headers_of(world.other, "lead", *Scope.values)
        answers = {method: asker.status(method, url, **theirs) for method in METHODS}

    assert answers == dict.fromkeys(METHODS, 404)


def test_every_writing_endpoint_requires_a_writing_scope():
    for name in OF_THE_API:
        for method, scope in [(method, scope) for method, all_ in required_scopes(name).items() for scope in all_]:
            assert scope in Scope.values, name
            if scope == Scope.NOTIFICATIONS:
                continue  # one's own, read and ticked off
            writes = scope.endswith(":write")
            assert writes if method == "POST" else not writes or scope in READ_BY_THOSE_WHO_WRITE, name


def test_a_token_opens_no_page(world):
    headers = headers_of(world.project, "lead", *Scope.values)
    asker, pages = Asker(), [name for name in OF_PROJECTS if not is_of_the_api(name)]

    with without_words():
        answers = {name: asker.status("get", world.url(name), **headers) for name in pages}

    assert {name for name, status in answers.items() if status not in {302, 405}} <= {"badges:badge"}

"""What a token may do: at every endpoint of a project and by every method, what its scope says and nothing else."""

import re
from datetime import timedelta
from itertools import product

import pytest
from django.urls import resolve
from django.utils import timezone

from apps.accounts.access.api import scopes_of
from apps.accounts.actions.tokens import create_token
from apps.accounts.enums import Scope
from apps.accounts.models import Project, User
from tests.endpoints import ENDPOINTS
from tests.factories import EVERY_SCOPE
from tests.fast_client import Asker, without_words
from tests.world import OF_PROJECTS, ROLE_HOLDERS, ROUTES, is_of_the_api, namespaces

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


class Tokens:
    """What a machine sends that holds a token of a person with some scopes. Each is created once."""

    def __init__(self) -> None:
        self.known: dict[tuple, dict[str, str]] = {}

    def of(self, project: Project, standing: str, *scopes: str) -> dict[str, str]:
        key = (project.pk, standing, *sorted(scopes))
        if key not in self.known:
            person = User.objects.get(email=ROLE_HOLDERS[standing])
            token = {"name": f"Token {len(self.known)}", "at": timezone.now(), "lasts": timedelta(days=1)}
            _, secret = create_token(project=project, user=person, scopes=scopes, **token)
            self.known[key] = {"HTTP_AUTHORIZATION": f"Bearer {secret}"}
        return self.known[key]


def required_scopes(name: str) -> dict[str, tuple[str, ...]]:
    """By method, the scopes that an endpoint says a token needs."""
    url = "/" + re.sub(r"<(\w+:)?\w+>", "1", ROUTES[name])
    view = resolve(url).func.view_class
    return {method: scopes_of(view, method) for method in view.scopes}


def needed(name: str, method: str) -> tuple[str, ...]:
    return required_scopes(name)["GET" if method == "head" else method.upper()]


def allowed(name: str, method: str) -> frozenset[str] | None:
    return ENDPOINTS[name].post if method == "post" else ENDPOINTS[name].get


@pytest.mark.parametrize("names", namespaces(OF_THE_API).values(), ids=namespaces(OF_THE_API))
def test_a_token_needs_the_scope_of_the_method_and_no_other(world, names, pytestconfig):
    """HEAD, which does what GET does, is asked with enough scopes only with --all."""
    asker, tokens, wrong = Asker(), Tokens(), {}

    with without_words():
        for name, method in product(names, METHODS):
            standing = next((one for one in ROLE_HOLDERS if one in (allowed(name, method) or ())), None)
            if standing is None:
                continue
            url, scopes = world.url(name), needed(name, method)
            for scope in scopes:
                lacking = tokens.of(world.project, standing, *(set(EVERY_SCOPE) - {scope}))
                if (status := asker.status(method, url, **lacking)) != 403:
                    wrong[f"{method} {url} with every scope but {scope}"] = status
            if method == "head" and not pytestconfig.option.all:
                continue
            enough = tokens.of(world.project, standing, *scopes)
            if (status := asker.status(method, url, **enough)) in {401, 403}:
                wrong[f"{method} {url} with {scopes} alone"] = status

    assert wrong == {}


@pytest.mark.parametrize("names", namespaces(OF_THE_API).values(), ids=namespaces(OF_THE_API))
def test_a_token_does_no_more_than_its_owner_may(world, names, pytestconfig):
    asker, tokens, wrong = Asker(), Tokens(), {}
    standings = ROLE_HOLDERS if pytestconfig.option.all else ("viewer",)  # who may least

    with without_words():
        for standing, name, method in product(standings, names, METHODS):
            who, url = allowed(name, method), world.url(name)
            if standing in (who or ()):
                continue
            status = asker.status(method, url, **tokens.of(world.project, standing, *EVERY_SCOPE))
            if status != (405 if who is None else 403):
                wrong[f"{method} {url} as {standing}"] = status

    assert wrong == {}


def test_a_token_of_another_project_finds_nothing(world):
    asker, theirs = Asker(), Tokens().of(world.other, "lead", *EVERY_SCOPE)

    with without_words():
        answers = {
            f"{method} {name}": asker.status(method, world.url(name), **theirs)
            for name, method in product(OF_THE_API, METHODS)
        }

    assert {where: status for where, status in answers.items() if status != 404} == {}


def test_every_writing_endpoint_requires_a_writing_scope():
    for name in OF_THE_API:
        for method, scope in [(method, scope) for method, all_ in required_scopes(name).items() for scope in all_]:
            assert scope in Scope.values, name
            if scope == Scope.NOTIFICATIONS:
                continue  # one's own, read and ticked off
            writes = scope.endswith(":write")
            assert writes if method == "POST" else not writes or scope in READ_BY_THOSE_WHO_WRITE, name


def test_a_token_opens_no_page(world):
    headers = Tokens().of(world.project, "lead", *EVERY_SCOPE)
    asker, pages = Asker(), [name for name in OF_PROJECTS if not is_of_the_api(name)]

    with without_words():
        answers = {name: asker.status("get", world.url(name), **headers) for name in pages}

    assert {name for name, status in answers.items() if status not in {302, 405}} <= {"badges:badge"}

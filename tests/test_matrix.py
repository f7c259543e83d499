"""Every endpoint × every standing × GET and POST, and every project page with another project's object.

The table is `tests/endpoints.py`; the endpoints come from the resolver, so one that nobody entered fails.
Each request is rolled back, so the order does not matter. Who may do what is decided in Python, so one
database answers both products; the pages of a lead are read on every database, in search of secrets.
"""

from collections.abc import Iterator

import pytest
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse

from apps.accounts.secrets import reveal
from tests.endpoints import ENDPOINTS
from tests.flushing import without_guards
from tests.world import SECRET, World, build_world

pytestmark = pytest.mark.django_db

# What an endpoint may answer to somebody who may use it: done, go on there, wrong input, refused by a rule.
WELCOME = {200, 201, 202, 204, 286, 302, 303, 400, 409, 413, 415, 422}
STANDINGS = ("anonymous", "stranger", "former", "viewer", "annotator", "reviewer", "lead", "other_lead", "operator")
MEMBERS = {"viewer", "annotator", "reviewer", "lead"}
# Own things of a person (a draft, a token, a seat) are 404 to everybody else, members included; a first version has
# no difference to show.
MAY_BE_MISSING = {
    "triples:autosave",
    "triples:checks",
    "triples:edit",
    "triples:reopen",
    "triples:save",
    "triples:withdraw",
    "people:revoke-token",
    "notifications:open",
    "notifications-api:read",
    "accounts:setup",
    "accounts:join",
    "goldsets:difference",
    "judging:judge",
    "judging:grade",
    "agreement:calibration",
    "agreement:calibration-message",
    "agreement:calibration-close",
    "agreement:calibration-item",
    "agreement:calibration-answer",
}
METHOD_NAMES = {"get": "GET", "post": "POST"}


def endpoints() -> Iterator[tuple[str, str]]:
    """Name and route of every pattern the resolver knows."""

    def walk(resolver, namespace: str, prefix: str) -> Iterator[tuple[str, str]]:
        for pattern in resolver.url_patterns:
            route = prefix + str(pattern.pattern)
            if isinstance(pattern, URLPattern):
                yield f"{namespace}:{pattern.name}" if namespace else str(pattern.name), route
            else:
                yield from walk(pattern, pattern.namespace or namespace, route)

    return walk(get_resolver(), "", "")


ROUTES = dict(endpoints())


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker) -> Iterator[World]:
    with django_db_blocker.unblock():
        world = build_world()
        for standing, person in world.people.items():
            client = Client()
            if person is not None:
                client.force_login(person)
            world.cookies[standing] = client.cookies
        yield world
        _empty_the_database()


def _empty_the_database() -> None:
    from django.core.management import call_command
    from django.db import connection

    with without_guards(connection):
        call_command("flush", verbosity=0, interactive=False, allow_cascade=connection.vendor == "postgresql")


def ask(world: World, standing: str, method: str, url: str) -> int:
    """The status of one request, whose effects are undone."""
    client = Client(raise_request_exception=False)
    client.cookies = world.cookies[standing].copy()
    with transaction.atomic():
        status = getattr(client, method)(url).status_code
        transaction.set_rollback(True)
    return status


def test_every_endpoint_stands_in_the_table():
    assert sorted(ENDPOINTS) == sorted(ROUTES)


def expected(name: str, standing: str, allowed: frozenset[str] | None) -> set[int]:
    is_api, has_project = ROUTES[name].startswith("api/"), "<slug:slug>" in ROUTES[name]
    if name == "api:not-found":
        return {404}
    if allowed is None:
        return {405, 403} | (outsider(standing, is_api) if has_project else {302, 401})
    if standing in allowed:
        return WELCOME | ({404} if name in MAY_BE_MISSING else set())
    if not has_project:
        return outsider(standing, is_api) if standing == "anonymous" else {403}
    if standing in MEMBERS:
        return {403}
    return outsider(standing, is_api)


def outsider(standing: str, is_api: bool) -> set[int]:
    if standing != "anonymous":
        return {404}
    return {401} if is_api else {302}


@pytest.mark.once
@pytest.mark.parametrize("name", sorted(ROUTES))
def test_each_standing_gets_what_the_table_says(world, name):
    url = world.url(name, ROUTES[name])
    row = ENDPOINTS[name]
    wrong = []

    for standing in STANDINGS:
        for method in ("get", "post"):
            allowed = getattr(row, method)
            status = ask(world, standing, method, url)
            if status not in expected(name, standing, allowed):
                wrong.append(f"{METHOD_NAMES[method]} {url} as {standing}: {status}")

    assert wrong == []


def test_no_endpoint_tells_what_a_secret_holds(world):
    assert reveal(world.project, "search-key") == SECRET
    client, told, named = Client(), [], 0
    client.cookies = world.cookies["lead"].copy()

    for name, route in sorted(ROUTES.items()):
        if "lead" in (ENDPOINTS[name].get or ()):
            with transaction.atomic():
                answer = client.get(world.url(name, route))
                words = b"".join(answer.streaming_content) if answer.streaming else answer.content
                transaction.set_rollback(True)
            named += b"search-key" in words
            told += [name] if SECRET.encode() in words else []

    assert told == []
    assert named >= 3


def routes_with_objects() -> list[str]:
    own_words = {"slug", "kind", "split", "token", "number"}
    return [
        name
        for name, route in sorted(ROUTES.items())
        if "<slug:slug>" in route
        and {part.split(">")[0].split(":")[-1] for part in route.split("<")[1:]} - own_words
        and name not in {"goldsets:version"}
    ]


@pytest.mark.once
@pytest.mark.parametrize("name", routes_with_objects())
def test_our_address_with_their_object_is_not_found(world, name):
    theirs = world.kwargs(name, ROUTES[name], world.other)
    ours = world.kwargs(name, ROUTES[name])
    if theirs == {**ours, "slug": theirs["slug"]}:
        pytest.skip("its objects go by names that both projects use; people are in both")
    url = reverse(name, kwargs={**theirs, "slug": ours["slug"]})
    allowed = (ENDPOINTS[name].get or frozenset()) | (ENDPOINTS[name].post or frozenset())
    answers = {
        f"{method} as {standing}": ask(world, standing, method, url)
        for standing in sorted(MEMBERS & allowed)
        for method in ("get", "post")
        if standing in (getattr(ENDPOINTS[name], method) or frozenset())
    }

    assert answers
    assert {how: status for how, status in answers.items() if status != 404} == {}

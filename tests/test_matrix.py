"""Every endpoint × every standing × every method, and every project page with another project's object.

The table is `tests/endpoints.py`; the endpoints come from the resolver, so one that nobody entered fails.
Each request is rolled back, so the order does not matter. Who may do what is decided in Python, so one
database answers both products; the pages of a lead are read on every database, in search of secrets.
"""

import re
from collections.abc import Container, Iterator

import pytest
from django.http.response import HttpResponseBase
from django.urls import reverse

from apps.accounts.actions.secrets import reveal
from apps.dashboard.pages.shell import HELP
from tests.endpoints import ENDPOINTS, MEMBERS, STANDINGS
from tests.fast_client import Asker, without_words
from tests.world import OF_PROJECTS, ROUTES, SECRET, arguments_of, is_of_the_api, namespaces

pytestmark = [pytest.mark.django_db, pytest.mark.once]

# What an endpoint may answer to somebody who may use it: done, go on there, wrong input, refused by a rule.
WELCOME = {200, 201, 202, 204, 286, 302, 303, 400, 409, 413, 415, 422}
# Own things of a person (a draft, a token, a seat) are 404 to everybody else, members included; a first version has
# no difference to show, without an issuer in the settings there is no single sign-on, and without a token no metrics.
MAY_BE_MISSING = {
    "metrics",
    "triples:autosave",
    "triples:checks",
    "triples:edit",
    "triples:reopen",
    "triples:save",
    "triples:withdraw",
    "triples-api:draft",
    "triples-api:withdraw",
    "people:revoke-token",
    "notifications:open",
    "notifications-api:read",
    "server-webhook:send-again",
    "accounts:setup",
    "accounts:join",
    "accounts:reset",
    "accounts:sso",
    "accounts:sso-return",
    "accounts:link",
    "accounts:unlink",
    "accounts:end-session",
    "accounts:revoke-own-token",
    "goldsets:difference",
    "judging:judge",
    "judging:grade",
    "calibration:calibration",
    "calibration:message",
    "calibration:close",
    "calibration:item",
    "calibration:answer",
    "calibration-api:calibration",
    "calibration-api:message",
    "calibration-api:close",
    "calibration-api:items",
    "calibration-api:answer",
}
OTHER_METHODS = ("options", "put", "patch", "delete")
"""Answered by no endpoint; OPTIONS by those of the API, which tell members what they are."""


@pytest.fixture
def askers(world) -> Iterator[dict[str, Asker]]:
    """Somebody of each standing, who asks pages that are not rendered."""
    with without_words():
        yield world.askers


def test_every_endpoint_is_in_the_table():
    assert sorted(ENDPOINTS) == sorted(ROUTES)


def expected(name: str, standing: str, allowed: frozenset[str] | None) -> set[int]:
    is_api, has_project = is_of_the_api(name), name in OF_PROJECTS
    if name in {"api:not-found", "traces:receive"}:  # the second is off unless the operators turn it on
        return {404}
    if name == "agents:mcp" and allowed is not None:
        return {401}  # a person who is signed in is no agent
    if allowed is None:
        if is_api and has_project:
            return {405} if standing in MEMBERS else outsider(standing, is_api)
        return {405, 403} | (outsider(standing, is_api) if has_project else {302, 401})
    if standing in allowed:
        unready = {503} if name == "readyz" else set()  # no worker was started
        return WELCOME | unready | ({404} if name in MAY_BE_MISSING else set())
    if not has_project:
        return outsider(standing, is_api) if standing == "anonymous" else {403}
    if standing in MEMBERS:
        return {403}
    return outsider(standing, is_api)


def outsider(standing: str, is_api: bool) -> set[int]:
    if standing != "anonymous":
        return {404}
    return {401} if is_api else {302}


@pytest.mark.parametrize("names", namespaces(ROUTES).values(), ids=namespaces(ROUTES))
def test_each_standing_gets_what_the_table_says_and_no_other_method_does_anything(world, askers, names, pytestconfig):
    """HEAD, and methods that an endpoint does not answer, are asked by few, and by everybody with --all."""
    wrong = {}

    for name in names:
        url = world.url(name)
        for standing, asker in askers.items():
            for method, allowed in methods_of(name):
                if not (pytestconfig.option.all or standing in who_asks(method, allowed)):
                    continue
                sent = {"data": b"{}", "content_type": "application/json"} if method in OTHER_METHODS else {}
                wanted = expected(name, standing, allowed)
                if method == "options" and is_of_the_api(name) and 405 in wanted:
                    wanted = wanted - {405} | {200}
                if (status := asker.status(method, url, **sent)) not in wanted:
                    wrong[f"{method.upper()} {url} as {standing}"] = status

    assert wrong == {}


def who_asks(method: str, allowed: frozenset[str] | None) -> Container[str]:
    """Everybody what somebody may do. HEAD, which does what GET does: two who may not read. Others: who may most."""
    if allowed is None:
        return {"lead"}
    return {"anonymous", "other_lead"} if method == "head" else STANDINGS


def methods_of(name: str) -> list[tuple[str, frozenset[str] | None]]:
    """Each method with who may use it; None where it is not answered. What may be read may be asked for by HEAD."""
    get, post = ENDPOINTS[name]
    return [("get", get), ("post", post), ("head", get), *((method, None) for method in OTHER_METHODS)]


@pytest.fixture(scope="module")
def read(world, django_db_blocker) -> dict[str, tuple[HttpResponseBase, bytes]]:
    """What a lead reads at every endpoint, in full, with the bytes of its body."""
    found = {}
    with django_db_blocker.unblock():
        for name in sorted(ROUTES):
            if "lead" in (ENDPOINTS[name].get or ()):
                answer = world.askers["lead"].answer("get", world.url(name), whole=True)
                parts = answer.streaming_content if answer.streaming else [answer.content]
                found[name] = answer, b"".join(parts)
    return found


@pytest.fixture(scope="module")
def pages_of_others(world, django_db_blocker) -> dict[str, bytes]:
    """The pages that no lead reads, as somebody reads them who may."""
    found = {}
    with django_db_blocker.unblock():
        for name in sorted(ROUTES):
            readers = ENDPOINTS[name].get or frozenset()
            standing = next((one for one in ("annotator", "reviewer", "operator") if one in readers), None)
            if standing and "lead" not in readers:
                found[name] = world.askers[standing].answer("get", world.url(name), whole=True).content
    return found


def test_every_page_has_help(read, pages_of_others):
    """Whoever adds a page says in `apps/dashboard/pages/help_texts/` what it is for and what to do there."""
    words = {name: words for name, (_, words) in read.items()} | pages_of_others
    pages = {name for name, body in words.items() if b'<dialog id="keys"' in body and "api" not in name.split(":")[0]}

    assert len(pages) > 80
    assert sorted(pages - HELP.keys()) == []
    assert sorted(HELP.keys() - ROUTES.keys()) == []


def test_no_endpoint_returns_the_value_of_a_secret(world, read):
    assert reveal(world.project, "search-key") == SECRET

    assert [name for name, (_, words) in read.items() if SECRET.encode() in words] == []
    assert sum(b"search-key" in words for _, words in read.values()) >= 3


def may_be_cached(answer: HttpResponseBase) -> bool:
    """Whether a proxy that obeys what it is told may answer the next person with this."""
    told = {word.strip().split("=")[0] for word in answer.get("Cache-Control", "").lower().split(",")}
    return not told & {"no-store", "private"}


def test_a_caching_proxy_never_answers_one_person_with_what_another_read(read):
    kept = [name for name, (answer, _) in read.items() if may_be_cached(answer)]

    assert kept == ["badges:badge"], "a picture that anybody may see who knows its address"
    for name, (answer, _) in read.items():
        is_page = answer.get("Content-Type", "").startswith("text/html") and answer.status_code == 200
        assert not is_page or "Cookie" in answer.get("Vary", ""), name


def test_every_answer_forbids_foreign_scripts_frames_and_guesses_at_its_kind(read):
    for name, (answer, _) in read.items():
        policy = answer["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'"), name
        assert "unsafe" not in policy, name
        assert (answer["X-Frame-Options"], answer["X-Content-Type-Options"]) == ("DENY", "nosniff"), name


def test_every_file_that_a_page_links_is_there(read, client):
    pages = [body.decode() for answer, body in read.values() if answer.get("Content-Type", "").startswith("text/html")]
    files = {file for page in pages for file in re.findall(r'(?:src|href)="(/(?:assets|static)/[^"]+)"', page)}

    assert len(files) > 40
    assert sorted(file for file in files if client.get(file).status_code != 200) == []


def routes_with_objects() -> list[str]:
    own_words = {"slug", "kind", "split", "token", "number"}
    return [name for name in OF_PROJECTS if {*arguments_of(name)} - own_words and name != "goldsets:version"]


@pytest.mark.parametrize("names", namespaces(routes_with_objects()).values(), ids=namespaces(routes_with_objects()))
def test_our_address_with_their_object_is_not_found(world, askers, names):
    """Where objects go by names that both projects use, or are people in both, there is no such address."""
    wrong = {}

    for name in names:
        theirs, ours = world.kwargs(name, world.other), world.kwargs(name)
        if theirs == {**ours, "slug": theirs["slug"]}:
            continue
        url = reverse(name, kwargs={**theirs, "slug": ours["slug"]})
        for method, who in methods_of(name):
            for standing in sorted(MEMBERS & (who or frozenset())):
                if (status := askers[standing].status(method, url)) != 404:
                    wrong[f"{method} {url} as {standing}"] = status

    assert wrong == {}

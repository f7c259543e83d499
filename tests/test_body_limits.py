"""Every endpoint of the API refuses a body that is too long, whoever sends it, before anything else is looked at.

How long it may be is said in one place, `apps/common/web/body_limits.py`, by address; what stands there is compared
with the endpoints that there are.
"""

import json
from collections.abc import Iterator
from itertools import product

import pytest
from django.conf import settings
from django.urls import get_resolver
from rest_framework.parsers import MultiPartParser

from apps.common.web.body_limits import FRAMING_BYTES, MOST_BYTES, MOST_BYTES_OF_A_RUN, most_bytes_at
from tests.fast_client import watching
from tests.world import ROUTES, is_of_the_api

pytestmark = [pytest.mark.django_db, pytest.mark.once]

API = sorted(filter(is_of_the_api, ROUTES))
METHODS = ("get", "post", "put", "patch", "delete")
OF_A_FILE = settings.UPLOAD_MAX_BYTES + FRAMING_BYTES
LARGER = {
    "retrieval-api:runs": MOST_BYTES_OF_A_RUN,
    "corpus-api:imports": OF_A_FILE,
    "queries-api:imports": OF_A_FILE,
    "querylogs-api:imports": OF_A_FILE,
    "triples-api:imports": OF_A_FILE,
    "judging-api:imports": OF_A_FILE,
    "goldsets-api:imports": OF_A_FILE,
    "collections-api:imports": OF_A_FILE,
}
"""The endpoints that take more than others. Pages of a project take files."""


def test_a_body_one_byte_too_long_is_a_413_problem_to_everybody(world, pytestconfig):
    """Length is looked at before anything else: who asks by which method is varied with --all."""
    standings = ("anonymous", "stranger", "annotator", "lead") if pytestconfig.option.all else ("anonymous", "lead")
    methods = METHODS if pytestconfig.option.all else ("post", "delete")

    for name, standing, method in product(API, standings, methods):
        sent = {} if method == "get" else {"data": b"{}", "content_type": "application/json"}
        too_long = str(LARGER.get(name, MOST_BYTES) + 1)
        with watching() as written:
            answer = world.askers[standing].answer(method, world.url(name), **sent, CONTENT_LENGTH=too_long)
        assert (answer.status_code, answer["Content-Type"]) == (413, "application/problem+json"), (method, name)
        assert json.loads(answer.content)["code"] == "payload_too_large"
        assert written.statements == []


def test_a_body_of_the_longest_length_is_not_refused_for_it(world):
    sent = {"data": b"{}", "content_type": "application/json"}
    statuses = {
        name: world.askers["lead"].status(
            "put", world.url(name), **sent, CONTENT_LENGTH=str(LARGER.get(name, MOST_BYTES))
        )
        for name in API
    }

    assert {name: status for name, status in statuses.items() if status not in {403, 404, 405}} == {}, "none knows PUT"


@pytest.mark.parametrize("length", ["-1", "1e3", "12 34", "0x10", "none"])
def test_a_length_that_is_no_number_is_refused(world, length):
    url = world.url("systems-api:systems")

    sent = {"content_type": "application/json", "CONTENT_LENGTH": length}
    assert world.askers["lead"].status("post", url, b"{}", **sent) == 413


def endpoints_for_files() -> set[str]:
    """The endpoints of the API that read forms with files."""

    def walk(resolver, namespace: str) -> Iterator[tuple[str, object]]:
        for pattern in resolver.url_patterns:
            if hasattr(pattern, "url_patterns"):
                yield from walk(pattern, pattern.namespace or namespace)
            elif view := getattr(pattern.callback, "cls", None):
                yield f"{namespace}:{pattern.name}", view

    found = dict(walk(get_resolver(), ""))
    return {name for name, view in found.items() if any(issubclass(p, MultiPartParser) for p in view.parser_classes)}


def test_endpoints_that_take_files_take_long_bodies_and_no_others():
    takes = {name for name in API if name in LARGER and LARGER[name] > MOST_BYTES_OF_A_RUN}

    assert endpoints_for_files() - {"api:schema"} == takes


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/login/", MOST_BYTES),
        ("/join/p/", MOST_BYTES),
        ("/p/hut/corpus/import/corpus/", 7 + FRAMING_BYTES),
        ("/p/hut", MOST_BYTES),
        ("/api/v1/projects/hut/runs/", MOST_BYTES_OF_A_RUN),
        ("/api/v1/projects/hut/runs/7/", MOST_BYTES),
        ("/api/v1/projects/hut/other/triples/imports/", MOST_BYTES),
        ("/api/p/hut/x/", MOST_BYTES),
        ("//p/hut/x", MOST_BYTES),
        ("", MOST_BYTES),
    ],
)
def test_only_addresses_that_take_files_or_runs_take_more_than_a_form(path, most):
    assert most_bytes_at(path, 7) == most

"""What the first judging page weighs: all that a browser with an empty cache is sent for it, heads included."""

import random
import re

import pytest
from django.http.response import HttpResponseBase
from django.urls import reverse

from apps.accounts.enums import Role
from tests.factories import make_member, make_project
from tests.judging.factories import make_pool, make_round
from tests.retrieval.factories import make_snapshot

pytestmark = pytest.mark.django_db

MOST_BYTES = 47_000
PAIRS = 28
"""Those of the page and those that its script loads at once."""
BY_WAITRESS = "Date: Thu, 01 Jan 2026 00:00:00 GMT\r\n\r\n"
WORDS = """
    access account after archive audit backup before cipher contract customer daily deleted encrypted every evidence
    export incident kept key monthly network notice owner policy recovery region restore retention review rotation
    service source storage target tenant transfer unless window within
"""


def passage(chance: random.Random) -> str:
    """Four paragraphs of 38 words in no order: of real text there is more in as many bytes."""
    return "\n\n".join(" ".join(chance.choices(WORDS.split(), k=38)).capitalize() + "." for _ in range(4))


def sent(answer: HttpResponseBase) -> int:
    """The bytes of an answer as the web server sends it."""
    cookies = [("Set-Cookie", cookie.OutputString()) for cookie in answer.cookies.values()]
    head = "".join(f"{name}: {value}\r\n" for name, value in [*answer.items(), *cookies])
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return len(f"HTTP/1.1 {answer.status_code} {answer.reason_phrase}\r\n{head}{BY_WAITRESS}".encode()) + len(body)


def test_the_first_judging_page_takes_at_most_47_kb_on_the_wire(client):
    project, chance = make_project(), random.Random(1)
    mara = make_member(project, Role.ANNOTATOR)
    snapshot = make_snapshot(project, {f"b{number}": passage(chance) for number in range(PAIRS)})
    pool = make_pool(project, queries=1, snapshot=snapshot)
    round_ = make_round(project, pool=pool, annotators=[mara], overlap=0.0)
    client.force_login(mara)
    page, pairs = (reverse(f"judging:{name}", args=[project.slug, round_.pk]) for name in ("judge", "pairs"))

    text = client.get(page).content.decode()
    seats = re.findall(r'<template data-seat="(\d+)"', text)
    files = re.findall(r'(?:src|href)="(/(?:assets|static)/[^"]+)"', text)
    more = f"{pairs}?n=20&view=pair&has={','.join(seats)}"
    weights = {path: sent(client.get(path, headers={"accept-encoding": "gzip"})) for path in [page, *files, more]}

    assert len(weights) == 8
    assert sum(weights.values()) <= MOST_BYTES, weights

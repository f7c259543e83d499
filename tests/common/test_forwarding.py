"""What is believed of a proxy, and what is said when it does not fit."""

import logging

import pytest
from django.test import RequestFactory

from apps.common.web import requests
from apps.common.web.requests import NO_ADDRESS, NO_SCHEME, UNEXPECTED_PROXY, client_address, fault_of
from tests.factories import make_project, make_user

PROXY = "10.0.0.9"
PERSON = "198.51.100.7"


def request_from(remote: str = PROXY, **headers: str):
    return RequestFactory().get("/", REMOTE_ADDR=remote, headers={k.replace("_", "-"): v for k, v in headers.items()})


@pytest.fixture(autouse=True)
def seen(monkeypatch):
    seen: dict = {}
    monkeypatch.setattr(requests, "seen", seen)
    return seen


@pytest.fixture
def behind(settings):
    settings.BEHIND_PROXY = True
    return settings


@pytest.mark.parametrize(
    ("hops", "header", "address"),
    [
        (1, PERSON, PERSON),
        (1, f"203.0.113.1, {PERSON}", PERSON),  # what the person wrote themselves stands before what the proxy saw
        (2, f"203.0.113.1, {PERSON}, 10.0.0.8", PERSON),
        (2, PERSON, PROXY),
        (1, "", PROXY),
        (1, "not an address", PROXY),
    ],
)
def test_the_address_is_the_one_that_our_outermost_proxy_saw(behind, hops, header, address):
    behind.PROXY_HOPS = hops

    assert client_address(request_from(X_Forwarded_For=header)) == address


def test_nobody_is_believed_without_a_proxy(settings):
    assert client_address(request_from(PERSON, X_Forwarded_For="203.0.113.1")) == PERSON


@pytest.mark.parametrize(
    ("headers", "fault"),
    [
        ({"X_Forwarded_For": PERSON, "X_Forwarded_Proto": "https"}, None),
        ({"X_Forwarded_Proto": "https"}, NO_ADDRESS),
        ({"X_Forwarded_For": "nonsense", "X_Forwarded_Proto": "https"}, NO_ADDRESS),
        ({"X_Forwarded_For": PERSON}, NO_SCHEME),
    ],
)
def test_a_proxy_that_sets_no_headers_is_reported(behind, headers, fault):
    assert fault_of(request_from(**headers)) == fault


def test_an_unexpected_proxy_is_reported():
    assert fault_of(request_from(X_Forwarded_For=PERSON)) == UNEXPECTED_PROXY
    assert fault_of(request_from()) is None


def test_a_stranger_who_sends_the_header_is_not_a_proxy():
    assert fault_of(request_from("93.184.216.34", X_Forwarded_For=PERSON)) is None


def test_the_log_says_it_once(client, db, caplog):
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            client.get("/login/", headers={"X-Forwarded-For": PERSON})

    assert [record.getMessage() for record in caplog.records if record.name == requests.__name__] == [UNEXPECTED_PROXY]


@pytest.mark.parametrize(("is_operator", "told"), [(True, True), (False, False)])
def test_operators_read_it_on_their_pages(client, db, seen, is_operator, told):
    seen[UNEXPECTED_PROXY] = None
    make_project()
    client.force_login(make_user(is_operator=is_operator))

    assert (UNEXPECTED_PROXY in client.get("/projects/").content.decode()) == told

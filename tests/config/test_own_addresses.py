"""Under which hosts `karat up --host 0.0.0.0` answers: those of this machine, whatever its own name resolves to."""

import os
import socket

import pytest
from django.http.request import validate_host

from apps.config import own_addresses, up

NAME = "desk"


@pytest.fixture
def machine(monkeypatch):
    """A machine whose name resolves to itself only, as on Debian and Ubuntu, and that is in two networks."""
    for name in ("KARAT_URL", "KARAT_ALLOWED_HOSTS", "KARAT_SET_BY_UP"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setattr(socket, "gethostname", lambda: NAME)
    monkeypatch.setattr(socket, "getfqdn", lambda: "localhost")
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: [(0, 0, 0, "", ("127.0.1.1", 0))])
    monkeypatch.setattr(own_addresses, "_outward", lambda: ["192.168.1.20", "fd00::20"])
    monkeypatch.setattr(own_addresses, "_of_interfaces", lambda: ["127.0.0.1", "192.168.1.20", "10.8.0.2"])
    return monkeypatch


def answered(*hosts: str) -> list[bool]:
    allowed = os.environ["KARAT_ALLOWED_HOSTS"].split(",")
    return [validate_host(host, allowed) for host in hosts]


@pytest.mark.parametrize("anywhere", ["0.0.0.0", "::"])
def test_on_every_interface_karat_answers_to_the_addresses_of_this_machine_only(machine, anywhere):
    up.allow_host(anywhere)

    assert answered("192.168.1.20", "10.8.0.2", "[fd00::20]", "127.0.1.1", NAME, "localhost") == [True] * 6
    assert answered("192.168.1.21", "evil.example.net", f"{NAME}.evil.example.net", "*", "") == [False] * 5


def test_on_one_address_karat_answers_to_no_other(machine):
    up.allow_host("10.8.0.2")

    assert answered("10.8.0.2", "localhost") == [True, True]
    assert answered("192.168.1.20", NAME) == [False, False]


def test_hosts_that_the_operator_has_set_are_all(machine):
    machine.setenv("KARAT_ALLOWED_HOSTS", "karat.example.org")

    up.allow_host("0.0.0.0")

    assert answered("karat.example.org", "192.168.1.20") == [True, False]


@pytest.mark.parametrize(
    ("host", "hosts", "url"),
    [
        ("0.0.0.0", "", "http://192.168.1.20:{}"),
        ("0.0.0.0", "karat.example.org", "http://localhost:{}"),
        ("127.0.0.1", "", "http://127.0.0.1:{}"),
    ],
)
def test_links_begin_with_an_address_that_the_network_knows(machine, host, hosts, url):
    if hosts:
        machine.setenv("KARAT_ALLOWED_HOSTS", hosts)
    with up.open_port(host, 0) as listener:
        assert up.address_for_others(host, listener) == url.format(listener.getsockname()[1])


def test_what_up_chooses_is_noted_and_what_is_set_stays(machine):
    machine.setenv("KARAT_HTTPS", "1")

    for name in ("KARAT_URL", "KARAT_HTTPS", "KARAT_ALLOWED_HOSTS"):
        up.choose(name, "chosen")

    assert (os.environ["KARAT_URL"], os.environ["KARAT_HTTPS"]) == ("chosen", "1")
    assert os.environ["KARAT_SET_BY_UP"] == "KARAT_URL,KARAT_ALLOWED_HOSTS"


def test_without_a_network_there_is_no_such_address(machine):
    machine.setattr(own_addresses, "_outward", lambda: ["127.0.0.1", "fe80::1", "no address"])

    assert own_addresses.outward_address() == ""


def test_every_address_that_is_found_here_is_one_of_this_machine():
    for address in own_addresses.addresses_of_this_machine():
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))

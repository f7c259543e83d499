"""The client against a real server in a process of its own."""

import datetime
import ipaddress
import json
import socket
import ssl

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from apps.common.web.addresses import parse_openings, parse_url
from apps.common.web.outbound import BadAnswer, Blocked, BrokenOff, Client, OutboundError, RequestLimits, Unreachable
from tests.remote_server import TOLD, running

LOOPBACK = ipaddress.ip_address("127.0.0.1")
BRIEF = RequestLimits(connect=2, read=0.2, whole=0.4, size=1_000_000)


@pytest.fixture(scope="module")
def port():
    with running() as port:
        yield port


@pytest.fixture
def client(port):
    client = client_at(port)
    client.ask("GET", "/forget", headers={})
    yield client
    client.close()


def client_at(port, limits=None, **options):
    target = parse_url(f"http://127.0.0.1:{port}/")
    return Client(target, openings=parse_openings([f"127.0.0.1:{port}"]), limits=limits, **options)


def seen(client):
    return json.loads(client.ask("GET", "/seen", headers={}).body)


def test_an_answer_comes_with_its_status_and_time(client):
    answer = client.ask("POST", "/search", headers={}, body=b'{"q": "green door"}')

    assert answer.status == 200
    assert json.loads(answer.body)["hits"][0] == {"doc": {"id": "doc:b"}, "score": 2.0}
    assert 0 < answer.seconds < 5


def test_connections_are_reused(client):
    for _ in range(3):
        client.ask("GET", "/search?q=door", headers={})

    assert seen(client)["connections"] == 1


def test_a_reused_connection_that_was_closed_is_opened_again(client):
    for _ in range(3):
        assert client.ask("GET", "/closing?q=door", headers={}).status == 200

    assert seen(client)["paths"]["/closing"] == 3


def test_nothing_inside_is_requested_unless_the_operator_allows_it(port):
    for host in ("127.0.0.1", "localhost"):
        with pytest.raises(Blocked, match="KARAT_OUTBOUND_ALLOW"):
            Client(parse_url(f"http://{host}:{port}/")).ask("GET", "/search", headers={})


def test_a_name_is_resolved_once_and_the_checked_address_is_requested(port):
    """A name that answers a public address first and a private one afterwards gets no second look."""
    answers = [[ipaddress.ip_address("127.0.0.1")], [ipaddress.ip_address("10.0.0.1")]]
    client = Client(
        parse_url(f"http://rebinding.test:{port}/"),
        openings=parse_openings(["rebinding.test"]),
        lookup=lambda host, port: answers.pop(0),
    )

    assert client.ask("GET", "/search?q=door", headers={}).status == 200
    assert client.ask("GET", "/search?q=door", headers={}).status == 200
    assert len(answers) == 1
    client.close()


def test_a_name_that_turns_private_is_blocked_before_anything_is_sent(port, client):
    turning = Client(parse_url(f"http://rebinding.test:{port}/"), lookup=lambda host, port: [LOOPBACK])

    with pytest.raises(Blocked):
        turning.ask("GET", "/search", headers={})

    assert seen(client)["paths"] == {}


def test_what_the_resolver_makes_of_a_name_is_what_is_checked(monkeypatch, port):
    rows = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("169.254.169.254", port))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **options: rows)

    with pytest.raises(Blocked):
        Client(parse_url("http://metadata.example/")).ask("GET", "/", headers={})


def test_the_next_address_is_tried_when_one_does_not_take_the_connection(port):
    spare = [ipaddress.ip_address("127.0.0.2"), LOOPBACK]
    client = Client(
        parse_url(f"http://two.test:{port}/"), openings=parse_openings(["two.test"]), lookup=lambda host, port: spare
    )

    assert client.ask("GET", "/search?q=door", headers={}).status == 200
    client.close()


@pytest.mark.parametrize(
    ("path", "error", "words"),
    [
        ("/redirect", BadAnswer, "redirect"),
        ("/packed", BadAnswer, "compressed"),
        ("/huge", BadAnswer, "longer than 1,000,000 bytes"),
        ("/drip", Unreachable, "after 0.4 seconds"),
        ("/hang", Unreachable, "did not answer in time"),
        ("/cut", BrokenOff, "closed the connection"),
    ],
)
def test_a_bad_answer_is_reported_without_its_text(port, path, error, words):
    client = client_at(port, BRIEF)

    with pytest.raises(error) as caught:
        client.ask("GET", path, headers={})

    assert words in str(caught.value)
    assert TOLD not in str(caught.value)
    assert "169.254" not in str(caught.value)
    client.close()


def test_an_unreachable_server_is_reported(port):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = free.getsockname()[1]

    with pytest.raises(BrokenOff, match="refused the connection"):
        client_at(nobody).ask("GET", "/", headers={})


def test_an_unknown_name_is_reported():
    def lookup(host, port):
        raise socket.gaierror(-2, "Name or service not known")

    with pytest.raises(Unreachable, match="not known"):
        Client(parse_url("http://nowhere.example/"), lookup=lookup).ask("GET", "/", headers={})


# Certificates are checked against the name, although the connection goes to an address


def make_certificate(folder, name):
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, private = folder / "certificate.pem", folder / "key.pem"
    pem.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return pem, private


@pytest.fixture(scope="module")
def secured(tmp_path_factory):
    pem, key = make_certificate(tmp_path_factory.mktemp("tls"), "search.test")
    with running(pem, key) as port:
        yield port, ssl.create_default_context(cafile=pem)


def request_by_name(port, name, tls):
    client = Client(
        parse_url(f"https://{name}:{port}/"),
        openings=parse_openings([name]),
        lookup=lambda host, port: [LOOPBACK],
        tls=tls,
    )
    try:
        return client.ask("GET", "/search?q=door", headers={}).status
    finally:
        client.close()


def test_a_certificate_for_the_name_is_taken(secured):
    port, trusted = secured

    assert request_by_name(port, "search.test", trusted) == 200


@pytest.mark.parametrize(("name", "is_trusted"), [("other.test", True), ("search.test", False)])
def test_a_certificate_for_another_name_or_by_nobody_we_trust_is_refused(secured, name, is_trusted):
    port, trusted = secured

    with pytest.raises(OutboundError, match="certificate"):
        request_by_name(port, name, trusted if is_trusted else None)

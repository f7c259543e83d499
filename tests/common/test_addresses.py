import ipaddress

import pytest

from apps.common.web.addresses import BadAddress, Opening, Target, first_closed, is_public, parse_openings, parse_url

CLOSED = [
    "0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
    "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1",
    "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::10.0.0.1",
    "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "2002:a9fe:a9fe::",
    "3fff::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1",
]  # fmt: skip
OPEN = ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::"]


@pytest.mark.parametrize("text", CLOSED)
def test_nothing_inside_is_public_whatever_it_is_wrapped_in(text):
    assert not is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", OPEN)
def test_the_internet_is_public(text):
    assert is_public(ipaddress.ip_address(text))


def test_an_address_is_taken_apart():
    assert parse_url("https://Search.Example.org/a?b=1") == Target("https", "search.example.org", 443, "/a?b=1")
    assert parse_url("http://[2606:4700::1111]:9200") == Target("http", "2606:4700::1111", 9200, "/")
    assert parse_url("http://[2606:4700::1111]:9200").authority == "[2606:4700::1111]:9200"
    assert parse_url("http://a.example:80/").authority == "a.example"


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "ftp://a.example/", "gopher://a.example/", "//a.example/", "a.example", "",
        "http://", "http:///path", "http://user@a.example/", "http://public.example@127.0.0.1/",
        "http://a.example\\@127.0.0.1/", "http://a.example /", "http://a.example/\n", "http://a.exämple/",
        "http://a.example:0/", "http://a.example:99999/", "http://a.example:x/", "http://[::1/", "http://-a.example/",
        "http://a..example/", "http://%31%32%37.0.0.1/",
        "http://2130706433/", "http://0/", "http://0177.0.0.1/", "http://0x7f.1/", "http://0x7f000001/",
        "http://127.1/", "http://127.0.0.1./", "http://1.2.3.4.5/", "http://[::1%25eth0]/",
        "http://a.example/" + "x" * 2_000,
    ],
)  # fmt: skip
def test_an_address_that_could_be_read_in_two_ways_is_refused(url):
    with pytest.raises(BadAddress):
        parse_url(url)


@pytest.mark.parametrize(
    ("entry", "opening"),
    [
        ("Search.inside", Opening(host="search.inside")),
        ("search.inside:9200", Opening(host="search.inside", port=9200)),
        ("10.0.0.5", Opening(network=ipaddress.ip_network("10.0.0.5"))),
        ("10.0.0.5:9200", Opening(network=ipaddress.ip_network("10.0.0.5"), port=9200)),
        ("10.0.0.0/8", Opening(network=ipaddress.ip_network("10.0.0.0/8"))),
        ("[fd00::1]:9200", Opening(network=ipaddress.ip_network("fd00::1"), port=9200)),
        ("fd00::/8", Opening(network=ipaddress.ip_network("fd00::/8"))),
    ],
)
def test_the_operators_list_names_hosts_and_networks(entry, opening):
    assert parse_openings([entry]) == (opening,)


@pytest.mark.parametrize("entry", ["", "a b", "a:0", "a:99999", "a:b", "*", "http://a.inside"])
def test_an_entry_that_is_neither_is_refused(entry):
    with pytest.raises(BadAddress):
        parse_openings([entry])


def closed(host, addresses, entries=(), port=9200):
    target = Target("http", host, port, "/")
    return first_closed(target, [ipaddress.ip_address(text) for text in addresses], parse_openings(entries))


def test_one_closed_address_closes_a_name_that_answers_with_both():
    assert str(closed("rebinding.example", ["8.8.8.8", "10.0.0.1"])) == "10.0.0.1"
    assert closed("honest.example", ["8.8.8.8", "1.1.1.1"]) is None


def test_the_operator_opens_a_host_on_one_port():
    assert closed("search.inside", ["10.0.0.5"], ["search.inside:9200"]) is None
    assert closed("search.inside", ["10.0.0.5"], ["search.inside:9200"], port=22) is not None
    assert closed("other.inside", ["10.0.0.5"], ["search.inside:9200"]) is not None


def test_the_operator_opens_a_network_however_it_is_written():
    assert closed("10.0.0.5", ["10.0.0.5"], ["10.0.0.0/8"]) is None
    assert closed("a.example", ["::ffff:10.0.0.5"], ["10.0.0.0/8"]) is None
    assert closed("192.168.0.5", ["192.168.0.5"], ["10.0.0.0/8"]) is not None


def test_no_name_opens_the_metadata_service():
    assert closed("search.inside", ["169.254.169.254"], ["search.inside"]) is not None
    assert closed("search.inside", ["64:ff9b::a9fe:a9fe"], ["search.inside"]) is not None
    assert closed("169.254.169.254", ["169.254.169.254"], ["169.254.169.254"]) is None

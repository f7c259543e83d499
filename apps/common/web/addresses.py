"""Rules for addresses outside this machine that may be requested, whoever typed them."""

import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# Networks that `is_global` allows although no public host is there, or that older Pythons do not know.
CLOSED = [ipaddress.ip_network(text) for text in ("192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "3fff::/20")]
UNICAST = ipaddress.IPv6Network("2000::/3")
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
SIX_TO_FOUR = ipaddress.IPv6Network("2002::/16")
DEFAULT_PORTS = {"http": 80, "https": 443}
LONGEST_URL = 2_000
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*\.?")
_NUMBER = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)\Z")


class BadAddress(ValueError):
    """An address that cannot be requested; the message is a sentence to show."""


class Target(NamedTuple):
    """The target of a request: `host` is lower case, and without brackets if it is an IPv6 address."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


def parse_url(url: str) -> Target:
    """The target of an http or https address. Raises BadAddress for anything a parser could read in two ways."""
    if len(url) > LONGEST_URL:
        raise BadAddress(f"The address is longer than {LONGEST_URL:,} characters.")
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise BadAddress("The address contains a space or another character that must be written with % signs.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadAddress("The address cannot be read. Write it as https://host:port/path.") from None
    if parts.scheme not in DEFAULT_PORTS:
        raise BadAddress("The address begins with neither https:// nor http://.")
    if "@" in parts.netloc:
        raise BadAddress("The address contains a name or password. Keep those in a secret of the project.")
    if port == 0:
        raise BadAddress("Port 0 is no port.")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, _host(parts.hostname or ""), port or DEFAULT_PORTS[parts.scheme], path)


def _host(host: str) -> str:
    if ":" in host or _NUMBER.match(host.rstrip(".").rpartition(".")[2]):
        return _literal(host)
    if not _NAME.fullmatch(host):
        raise BadAddress("The address names no host. Write it as https://host:port/path.")
    return host


def _literal(host: str) -> str:
    """A host written as an IP address. Programs read octal, hexadecimal and shortened forms differently, so only the
    usual form is accepted.
    """
    try:
        address = ipaddress.ip_address(host)
        if "%" in host:
            raise ValueError(host)
        return str(address)
    except ValueError:
        raise BadAddress(f"“{host[:60]}” is not an address. Write its four numbers in decimal, or a name.") from None


def unwrapped(address: Address) -> Address:
    """The IPv4 address in a mapped, translated or tunnelled IPv6 address, else the address itself."""
    if isinstance(address, ipaddress.IPv6Address):
        number = int(address)
        if address.ipv4_mapped is not None or address in NAT64:
            return ipaddress.IPv4Address(number & 0xFFFFFFFF)
        if address in SIX_TO_FOUR:
            return ipaddress.IPv4Address(number >> 80 & 0xFFFFFFFF)
    return address


def is_public(address: Address) -> bool:
    """Whether the address, unwrapped, is public on the internet."""
    address = unwrapped(address)
    if any(address in network for network in CLOSED) or not address.is_global:
        return False
    return address in UNICAST if isinstance(address, ipaddress.IPv6Address) else not address.is_multicast


def is_never_by_name(address: Address) -> bool:
    """Whether it is link-local (metadata services of clouds), multicast or unspecified: no host name opens these."""
    address = unwrapped(address)
    return address.is_link_local or address.is_multicast or address.is_unspecified


@dataclass(frozen=True)
class Opening:
    """One entry of the operator's list: a host name or a network, on one port or on all."""

    host: str = ""
    network: Network | None = None
    port: int | None = None

    def covers(self, host: str, address: Address, port: int) -> bool:
        if self.port is not None and self.port != port:
            return False
        if self.network is None:
            return self.host == host.rstrip(".") and not is_never_by_name(address)
        return any(
            each.version == self.network.version and each in self.network for each in (address, unwrapped(address))
        )


def parse_openings(entries: Iterable[str]) -> tuple[Opening, ...]:
    """The operator's list: `name`, `name:port`, `10.0.0.5`, `10.0.0.0/8`, `10.0.0.5:9200`, `[fd00::1]:9200`,
    `fd00::/8`. Raises BadAddress.
    """
    return tuple(_opening(entry.strip().lower()) for entry in entries)


def _opening(entry: str) -> Opening:
    if network := _network(entry):
        return Opening(network=network)
    place, colon, port = entry.rpartition(":")
    if not colon:
        place, port = entry, ""
    if port and not (port.isdecimal() and 1 <= int(port) <= 65_535):
        raise BadAddress(f"“{entry}” is neither a host nor a network. Write name:port, 10.0.0.5:9200 or 10.0.0.0/8.")
    number = int(port) if port else None
    if network := _network(place.strip("[]")):
        return Opening(network=network, port=number)
    if not _NAME.fullmatch(place):
        raise BadAddress(f"“{entry}” is neither a host nor a network. Write name:port, 10.0.0.5:9200 or 10.0.0.0/8.")
    return Opening(host=place.rstrip("."), port=number)


def _network(text: str) -> Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def first_closed(target: Target, addresses: Sequence[Address], openings: Iterable[Opening]) -> Address | None:
    """The first of a host's addresses that may not be requested, or None when all may.

    One closed address closes the host: a name that resolves to both kinds is not trusted.
    """
    openings = tuple(openings)
    for address in addresses:
        opened = any(opening.covers(target.host, address, target.port) for opening in openings)
        if not is_public(address) and not opened:
            return address
    return None

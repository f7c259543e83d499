"""Under which names and addresses others reach this machine."""

import fcntl
import ipaddress
import socket
import struct

ELSEWHERE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
"""An address of documentation for each family: a route leads there as to any other, and nobody is there."""
SIOCGIFADDR = 0x8915  # Linux
LOOPBACK = ["localhost", "127.0.0.1", "[::1]"]


def names_of_this_machine() -> list[str]:
    """What may stand in the address of a page of a server that listens on every interface, without the port."""
    names = [socket.gethostname(), socket.getfqdn(), *map(in_address, sorted(addresses_of_this_machine()))]
    return list(dict.fromkeys([*LOOPBACK, *filter(None, names)]))


def addresses_of_this_machine() -> set[str]:
    """Those that the resolver, the routes and the interfaces know.

    The resolver alone knows too few: Debian and Ubuntu resolve the name of the machine to 127.0.1.1. No host of a
    stranger can be among them, since each was asked of this machine.
    """
    return {address for address in {*_resolved(), *_outward(), *_of_interfaces()} if _is_typed(address)}


def outward_address() -> str:
    """The address under which this machine is known in the network of its default route; "" without one."""
    return next((address for address in _outward() if _is_typed(address) and not _is_loopback(address)), "")


def in_address(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _resolved() -> list[str]:
    try:
        return [str(found[4][0]) for found in socket.getaddrinfo(socket.gethostname(), None)]
    except OSError:
        return []


def _outward() -> list[str]:
    """The own end of a connection that leaves this machine. Connecting a datagram socket sends nothing."""
    found = []
    for family, elsewhere in ELSEWHERE:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((elsewhere, 9))
                found.append(str(probe.getsockname()[0]))
        except OSError:
            continue  # no such family, or no route
    return found


def _of_interfaces() -> list[str]:
    """The IPv4 address of each interface; elsewhere than on Linux none."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(probe.fileno(), SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
            except OSError:
                continue  # an interface without an address, or another system
            found.append(socket.inet_ntoa(answer[20:24]))
    return found


def _is_typed(address: str) -> bool:
    """Whether a browser can open it: link-local ones need a zone, which browsers do not take."""
    try:
        return not ipaddress.ip_address(address).is_link_local
    except ValueError:
        return False


def _is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address).is_loopback

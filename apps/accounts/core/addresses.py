"""The one form of an e-mail address, in which it is stored, compared and counted. No Django.

Databases and programs disagree about which letters are the same: PostgreSQL takes ı for I and ſ for S, SQLite does not.
So an address has ASCII letters only, small ones, and a domain with others stands in it as DNS has it (IDNA).
"""

from apps.common.errors import Refusal

LONGEST = 254


class NoAddress(Refusal):
    """What is no e-mail address that can be stored, with a sentence that says what to type instead."""


def plain_address(text: str) -> str:
    """The address in its one form. Raises NoAddress for one with other than ASCII letters before the @."""
    mailbox, at, domain = text.strip().rpartition("@")
    if not (mailbox and at and domain):
        raise NoAddress(f"“{text.strip()}” is no e-mail address. Type it like name@example.org.", code="address")
    if not (mailbox.isascii() and mailbox.isprintable()):
        raise NoAddress(
            f"“{text.strip()}” has a letter before the @ that is not one of a to z. Type an address without it.",
            code="address",
        )
    address = f"{mailbox.lower()}@{plain_domain(domain)}"
    if len(address) > LONGEST or " " in address:
        raise NoAddress(f"“{text.strip()}” is no e-mail address. Type it like name@example.org.", code="address")
    return address


def plain_domain(text: str) -> str:
    """A domain as DNS has it. Raises NoAddress for one with a letter that would become another one."""
    domain = "".join(letter.lower() if letter.isascii() or not letter.lower().isascii() else letter for letter in text)
    if domain.isascii():
        return domain
    try:
        written = domain.encode("idna").decode("ascii")
        is_same = written.encode("ascii").decode("idna") == domain
    except UnicodeError:
        is_same = False
    if not is_same:
        raise NoAddress(
            f"The domain “{text}” has a letter that stands for another one. Type the domain as it is registered, such "
            "as example.org or xn--bcher-kva.example.",
            code="address",
        )
    return written

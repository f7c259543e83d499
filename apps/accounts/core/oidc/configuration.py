"""The operator's settings of single sign-on: which provider, who may come in by it, and what their groups mean."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from urllib.parse import urlsplit

from apps.accounts.core.addresses import NoAddress, plain_address, plain_domain
from apps.common.web.addresses import BadAddress, parse_url

ROLES = ("annotator", "reviewer", "lead", "viewer")
"""The values of `Role`, written out: settings are read before Django's choices can be."""
THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
LONGEST_NAME = 40
_DOMAIN = re.compile(r"(?=.{1,253}\Z)[a-z0-9-]+(?:\.[a-z0-9-]+)+")
_ADDRESS = re.compile(r"[^@\s,;]+@[^@\s,;]+\.[^@\s,;.]+")
_RULE = re.compile(r"(?P<group>.+)=(?P<project>[a-z0-9-]+):(?P<role>[a-z]+)", re.DOTALL)


class BadConfiguration(ValueError):
    """Settings that contradict each other or cannot be read; the message is a sentence to show."""


class GroupRole(NamedTuple):
    """Members of `group` at the provider have `role` in the project with this slug."""

    group: str
    project: str
    role: str


@dataclass(frozen=True)
class SingleSignOn:
    """One OpenID provider. `passwords_only_for` is the one operator who may still use a password; "" is everybody."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str
    scopes: tuple[str, ...]
    domains: frozenset[str] = frozenset()
    creates_accounts: bool = False
    links_by_email: bool = False
    groups_claim: str = "groups"
    roles: tuple[GroupRole, ...] = ()
    passwords_only_for: str = ""

    @property
    def discovery_url(self) -> str:
        return f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"

    def trusts_domain_of(self, email: str) -> bool:
        return email.rpartition("@")[2] in self.domains

    def rules_by_project(self) -> dict[str, list[GroupRole]]:
        """The table of roles for each project that it names, in the order of their slugs."""
        found: dict[str, list[GroupRole]] = {}
        for rule in sorted(self.roles):
            found.setdefault(rule.project, []).append(rule)
        return dict(sorted(found.items()))


VARIABLES = {
    "client_id": "KARAT_OIDC_CLIENT_ID",
    "client_secret": "KARAT_OIDC_CLIENT_SECRET",
    "domains": "KARAT_OIDC_DOMAINS",
    "creates_accounts": "KARAT_OIDC_CREATE",
    "links_by_email": "KARAT_OIDC_LINK",
    "roles": "KARAT_OIDC_ROLES",
    "passwords_only_for": "KARAT_PASSWORDS_ONLY_FOR",
}
"""Where each value comes from that means nothing without an issuer."""


def single_sign_on(given: SingleSignOn) -> SingleSignOn | None:
    """The settings in their usual form, or None when no issuer is set. Raises BadConfiguration."""
    if not given.issuer:
        if lonely := [variable for name, variable in VARIABLES.items() if getattr(given, name)]:
            raise BadConfiguration(f"{lonely[0]} is set without KARAT_OIDC_ISSUER. Set the issuer too, or neither.")
        return None
    for name in ("client_id", "client_secret"):
        if not getattr(given, name):
            raise BadConfiguration(f"{VARIABLES[name]} is missing. The provider shows it where Karat is registered.")
    found = replace(
        given,
        issuer=_issuer(given.issuer),
        name=_name(given.name.strip(), given.issuer),
        scopes=_scopes(given.scopes),
        domains=frozenset(_domain(domain) for domain in given.domains),
        groups_claim=given.groups_claim.strip() or "groups",
        passwords_only_for=_address(given.passwords_only_for),
    )
    for name in ("creates_accounts", "links_by_email"):
        if getattr(found, name) and not found.domains:
            variable = VARIABLES[name]
            raise BadConfiguration(f"{variable} is on and KARAT_OIDC_DOMAINS is empty. Name the domains it is for.")
    return found


def is_safe_url(url: str) -> bool:
    """Whether an address of the provider may be used: HTTPS, or this machine, to try it out."""
    try:
        target = parse_url(url)
    except BadAddress:
        return False
    return target.scheme == "https" or target.host in THIS_MACHINE


def _issuer(issuer: str) -> str:
    if not is_safe_url(issuer) or "?" in issuer or "#" in issuer:
        raise BadConfiguration(
            f"KARAT_OIDC_ISSUER={issuer!r} is no issuer. Write it as the provider does, such as https://login.example.org."
        )
    return issuer


def _name(name: str, issuer: str) -> str:
    if len(name) > LONGEST_NAME:
        raise BadConfiguration(f"KARAT_OIDC_NAME is longer than {LONGEST_NAME} characters, and is written on a button.")
    return name or urlsplit(issuer).hostname or issuer


def _scopes(scopes: Iterable[str]) -> tuple[str, ...]:
    found = tuple(scopes)
    if "openid" not in found:
        raise BadConfiguration("KARAT_OIDC_SCOPES lacks openid, without which nobody is identified. Add it.")
    return found


def _domain(domain: str) -> str:
    try:
        plain = plain_domain(domain)
    except NoAddress:
        plain = ""
    if not _DOMAIN.fullmatch(plain):
        raise BadConfiguration(f"KARAT_OIDC_DOMAINS: {domain!r} is no domain. Write what follows the @: example.org.")
    return plain


def group_role(text: str) -> GroupRole:
    """A rule as it is written, group=project:role. Raises BadConfiguration."""
    found = _RULE.fullmatch(text)
    if found is None:
        raise BadConfiguration(f"KARAT_OIDC_ROLES: {text!r} cannot be read. Write group=project:role.")
    if found["role"] not in ROLES:
        raise BadConfiguration(f"KARAT_OIDC_ROLES: there is no role {found['role']!r}. Roles are {', '.join(ROLES)}.")
    return GroupRole(found["group"].strip(), found["project"], found["role"])


def _address(email: str) -> str:
    if not email.strip():
        return ""
    try:
        plain = plain_address(email)
    except NoAddress:
        plain = ""
    if not _ADDRESS.fullmatch(plain):
        raise BadConfiguration(f"KARAT_PASSWORDS_ONLY_FOR={email!r} is no e-mail address. Name that of one operator.")
    return plain

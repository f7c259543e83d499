"""The settings of single sign-on: what is read, and what stops the start with a sentence."""

import pytest

from apps.accounts.core.oidc import configuration
from apps.accounts.core.oidc.configuration import (
    BadConfiguration,
    GroupRole,
    SingleSignOn,
    group_role,
    single_sign_on,
)
from apps.accounts.enums import Role

LEAST = {"issuer": "https://login.example.org", "client_id": "karat", "client_secret": "s"}


def read(**changed):
    nothing = {
        "issuer": "",
        "client_id": "",
        "client_secret": "",
        "name": "",
        "scopes": ["openid", "email"],
        "domains": [],
        "creates_accounts": False,
        "links_by_email": False,
        "groups_claim": "",
        "roles": [],
        "passwords_only_for": "",
    }
    given = {**nothing, **changed}
    return single_sign_on(SingleSignOn(**given | {"roles": tuple(map(group_role, given["roles"]))}))


def test_the_least_is_issuer_client_and_secret_and_without_an_issuer_there_is_none():
    found = read(**LEAST)

    assert read() is None
    assert (found.name, found.groups_claim) == ("login.example.org", "groups")
    assert found.discovery_url == "https://login.example.org/.well-known/openid-configuration"
    assert (found.creates_accounts, found.links_by_email) == (False, False)
    assert (found.domains, found.roles, found.passwords_only_for) == (frozenset(), (), "")


def test_an_issuer_keeps_its_slash_and_one_on_this_machine_needs_no_https():
    assert read(**LEAST | {"issuer": "http://localhost:9000"}).issuer == "http://localhost:9000"
    found = read(**LEAST | {"issuer": "https://login.example.org/realms/acme/"})

    assert found.issuer == "https://login.example.org/realms/acme/"
    assert found.discovery_url == "https://login.example.org/realms/acme/.well-known/openid-configuration"


def test_a_group_may_contain_what_a_directory_puts_there():
    found = read(**LEAST, roles=["/search team=handbook:annotator", "CN=Ops=a:lead"])

    assert found.roles == (GroupRole("/search team", "handbook", "annotator"), GroupRole("CN=Ops", "a", "lead"))


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"client_id": "karat"}, "KARAT_OIDC_CLIENT_ID is set without KARAT_OIDC_ISSUER"),
        ({"passwords_only_for": "a@example.org"}, "KARAT_PASSWORDS_ONLY_FOR is set without KARAT_OIDC_ISSUER"),
        (LEAST | {"client_id": ""}, "KARAT_OIDC_CLIENT_ID is missing"),
        (LEAST | {"client_secret": ""}, "KARAT_OIDC_CLIENT_SECRET is missing"),
        (LEAST | {"issuer": "http://login.example.org"}, "is no issuer"),
        (LEAST | {"issuer": "login.example.org"}, "is no issuer"),
        (LEAST | {"issuer": "https://login.example.org/?x=1"}, "is no issuer"),
        (LEAST | {"name": "n" * 41}, "KARAT_OIDC_NAME is longer than 40 characters"),
        (LEAST | {"scopes": ["email"]}, "KARAT_OIDC_SCOPES lacks openid"),
        (LEAST | {"domains": ["@example.org"]}, "'@example.org' is no domain"),
        (LEAST | {"creates_accounts": True}, "KARAT_OIDC_CREATE is on and KARAT_OIDC_DOMAINS is empty"),
        (LEAST | {"links_by_email": True}, "KARAT_OIDC_LINK is on and KARAT_OIDC_DOMAINS is empty"),
        (LEAST | {"roles": ["team:handbook"]}, "'team:handbook' cannot be read. Write group=project:role"),
        (LEAST | {"roles": ["team=handbook:boss"]}, "there is no role 'boss'"),
        (LEAST | {"passwords_only_for": "ops"}, "'ops' is no e-mail address"),
    ],
)
def test_what_cannot_work_is_said_in_a_sentence(changed, sentence):
    with pytest.raises(BadConfiguration, match=sentence):
        read(**changed)


def test_the_roles_of_the_table_are_the_roles_there_are():
    assert set(configuration.ROLES) == set(Role.values)

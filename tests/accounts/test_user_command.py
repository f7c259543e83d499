"""`karat user`."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.accounts.actions.people import create_placeholder
from apps.accounts.actions.projects import create_project
from apps.accounts.models import Identity, User
from apps.common.errors import Refusal
from tests.factories import AT, make_user

pytestmark = pytest.mark.django_db


def output_of(*arguments: str) -> str:
    out = StringIO()
    call_command("user", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_add_makes_a_person_with_a_password_shown_once():
    add = ("add", "ada@example.org", "--name", "Ada", "--operator")
    email, password = output_of(*add).split()

    user = User.objects.get(email=email)
    assert user.is_operator
    assert user.check_password(password)
    with pytest.raises(Refusal, match="has an account already"):
        output_of(*add)


def test_list_shows_everybody_with_their_standing_but_no_names_of_imported_files():
    operator, person = make_user("Ada", is_operator=True), make_user("Bo")
    create_placeholder(project=create_project(name="Hut", actor=operator, at=AT), name="Ann", actor=operator, at=AT)

    assert output_of("list").splitlines() == [f"{operator.email}\tAda\toperator", f"{person.email}\tBo\tperson"]


def test_deactivate_closes_the_account_and_unlink_ends_the_link_with_an_identity():
    user = make_user("Bo")
    Identity.objects.create(user=user, issuer="https://login.example.org", subject="s-1", linked_at=AT)

    assert output_of("unlink", user.email) == f"{user.email} is not linked with any identity now.\n"
    output_of("deactivate", user.email)

    user.refresh_from_db()
    assert (user.identities.exists(), user.is_active) == (False, False)


def test_an_unknown_address_is_named():
    with pytest.raises(CommandError, match=r"No person has the address x@example\.org"):
        output_of("deactivate", "x@example.org")

"""`karat user`."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.accounts.actions.people import stand_in
from apps.accounts.models import Identity, User
from apps.common.errors import Refusal
from tests.factories import AT, make_project, make_user

pytestmark = pytest.mark.django_db


def output_of(*arguments: str) -> str:
    out = StringIO()
    call_command("user", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_add_makes_a_person_with_a_password_shown_once():
    email, password = output_of("add", "ada@example.org", "--name", "Ada", "--operator").split()

    user = User.objects.get(email=email)
    assert user.is_operator
    assert user.check_password(password)


def test_add_refuses_an_address_that_is_taken():
    user = make_user("Ada")

    with pytest.raises(Refusal, match="has an account already"):
        output_of("add", user.email, "--name", "Ada")


def test_list_shows_everybody_with_their_standing():
    operator, person = make_user("Ada", is_operator=True), make_user("Bo")

    assert output_of("list").splitlines() == [
        f"{operator.email}\tAda\toperator",
        f"{person.email}\tBo\tperson",
    ]


def test_list_leaves_out_names_of_imported_files_which_are_no_accounts():
    person = make_user("Bo")
    stand_in(project=make_project(lead=person), name="Ann", actor=person, at=AT)

    assert [line.split("\t")[1] for line in output_of("list").splitlines()] == ["Bo"]


def test_deactivate_closes_the_account():
    user = make_user("Bo")

    output_of("deactivate", user.email)

    user.refresh_from_db()
    assert not user.is_active


def test_an_unknown_address_is_named():
    with pytest.raises(CommandError, match=r"No person has the address x@example\.org"):
        output_of("deactivate", "x@example.org")


def test_unlink_ends_the_link_with_an_identity():
    user = make_user("Bo")
    Identity.objects.create(user=user, issuer="https://login.example.org", subject="s-1", linked_at=AT)

    assert output_of("unlink", user.email) == f"{user.email} is not linked with any identity now.\n"
    assert not user.identities.exists()

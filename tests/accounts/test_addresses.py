"""One address in sixteen spellings, and its look-alikes: on both databases each is one person, or nobody."""

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from apps.accounts.actions.invitations import invite
from apps.accounts.actions.people import change_address, create_user
from apps.accounts.actions.sign_ins import MOST_PER_ACCOUNT, SignInRefused, sign_in
from apps.accounts.core.addresses import NoAddress, plain_address, plain_domain
from apps.accounts.enums import Role
from apps.accounts.models import Invitation, LoginAttempt, User
from apps.accounts.selectors import with_address
from apps.audit.models import Event
from apps.common.errors import Refusal
from tests.accounts.sso import linked_invitation, refusal_of
from tests.factories import AT, PASSWORD, lead_of, make_project, make_user

PLAIN = "isa.kis@xn--bcher-kva.example"
SPELLINGS = (
    "isa.kis@bücher.example", "ISA.KIS@BÜCHER.EXAMPLE", "Isa.Kis@Bücher.Example", " isa.kis@xn--bcher-kva.example\t",
    "iSA.kIS@XN--BCHER-KVA.example",
)  # fmt: skip
LOOK_ALIKES = (
    "ısa.kis@bücher.example", "İsa.kis@bücher.example", "iſa.kis@bücher.example", "isa.\u212ais@bücher.example",
    "isа.kis@bücher.example", "ｉsa.kis@bücher.example", "isá.kis@bücher.example", "isa\u200b.kis@bücher.example",
    "isa.kis@bu\u0308cher.example", "isa.kis@bücher。example", "isa.kis@büc\u200bher.example",
)  # fmt: skip
"""Not one of these is taken for the address, nor stored as another: the dotless i, the long s, the Kelvin sign, …"""


def test_sixteen_spellings_are_one_address_or_none():
    assert len({*SPELLINGS, *LOOK_ALIKES}) == 16
    assert {plain_address(each) for each in SPELLINGS} == {PLAIN}
    for each in LOOK_ALIKES:
        with pytest.raises(NoAddress, match="Type "):
            plain_address(each)


@pytest.mark.parametrize("text", ["", "isa", "@example.org", "isa@", f"{'i' * 250}@example.org", "isa kis@example.org"])
def test_what_is_no_address_is_refused_in_words(text):
    with pytest.raises(NoAddress, match=r"is no e-mail address\. Type it like"):
        plain_address(text)


@pytest.mark.parametrize("domain", ["straße.example", "examplſ.org", "ex\u212aample.org", "ＥＸＡＭＰＬＥ.org", "a..ü"])
def test_no_domain_becomes_another_one(domain):
    with pytest.raises(NoAddress, match="registered"):
        plain_domain(domain)


@pytest.mark.django_db
def test_one_account_answers_to_each_spelling_and_to_no_look_alike():
    user = create_user(email=SPELLINGS[0], name="Isa", password=PASSWORD, at=AT)

    assert user.email == PLAIN
    for each in SPELLINGS:
        assert with_address(User.objects.all(), each).get() == user
        assert sign_in(request=None, email=each, password=PASSWORD, address=None, at=AT) == user
        with pytest.raises(Exception, match="has an account already"):
            create_user(email=each, name="Isa", password=PASSWORD, at=AT)
    for each in LOOK_ALIKES:
        assert not with_address(User.objects.all(), each).exists()
        with pytest.raises(SignInRefused):
            sign_in(request=None, email=each, password=PASSWORD, address=None, at=AT)
        with pytest.raises(NoAddress):
            create_user(email=each, name="Isa", password=PASSWORD, at=AT)


@pytest.mark.django_db
def test_all_spellings_share_one_limit_of_tries_and_so_do_all_that_are_no_address():
    for spellings, count in ((SPELLINGS, len(SPELLINGS)), (LOOK_ALIKES, len(LOOK_ALIKES))):
        LoginAttempt.objects.all().delete()
        codes = []
        for number in range(MOST_PER_ACCOUNT + 2):
            with pytest.raises(SignInRefused) as refused:
                sign_in(request=None, email=spellings[number % count], password="wrong", address=None, at=AT)
            codes.append(refused.value.code)

        assert codes == ["unknown"] * MOST_PER_ACCOUNT + ["too_many"] * 2


@pytest.mark.django_db
@pytest.mark.parametrize("look_alike", [*LOOK_ALIKES, "ısa.kis@example.org"])
def test_nobody_takes_the_invitation_of_a_look_alike(look_alike, browser, provider, allow):
    """The provider has verified the address, which is somebody's there."""
    allow(creates_accounts=False)
    for address in (PLAIN, "isa.kis@example.org"):
        linked_invitation(address)
    provider.person["email"] = look_alike

    assert refusal_of(browser.sign_in()) in {"unverified", "not_invited"}
    assert not Invitation.objects.exclude(used_at=None).exists()


@pytest.mark.django_db
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_invited_person_comes_in_by_each_spelling(spelling, browser, provider):
    linked_invitation(SPELLINGS[1])
    provider.person["email"] = spelling

    assert refusal_of(browser.sign_in()) == ""
    assert browser.user.email == PLAIN


@pytest.mark.django_db
def test_forms_and_the_api_say_which_letter_they_do_not_take(client):
    project = make_project()
    lead = lead_of(project)
    client.force_login(lead)
    line = "Isa, ısa.kis@example.org, viewer"

    page = client.post(f"/p/{project.slug}/people/invite/", {"people": line, "roles": ["viewer"]})
    signed_out = Client().post(reverse("accounts:login"), {"email": "ısa@example.org", "password": "x"})

    assert "not one of a to z" in page.content.decode()
    assert "not one of a to z" in signed_out.content.decode()
    with pytest.raises(NoAddress):
        invite(project=project, actor=lead, roles=[Role.VIEWER], email="ısa@example.org", at=AT)


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["Isa@example.org", "ısa@example.org", "isa@bücher.example"])
def test_the_database_takes_no_other_form_from_any_client(address):
    user = make_user()
    linked_invitation()
    for rows in (User.objects.filter(pk=user.pk), Invitation.objects.all()):
        with pytest.raises(IntegrityError), transaction.atomic():
            rows.update(email=address)


@pytest.mark.django_db
def test_an_account_gets_another_address_on_record():
    user, other = make_user("Isa"), make_user("Bo")

    call_command("user", "address", user.email, "ISA@bücher.example")

    user.refresh_from_db()
    assert user.email == "isa@xn--bcher-kva.example"
    assert Event.objects.get(action="user.address_changed").after == {"email": user.email}
    with pytest.raises(Refusal, match="is the address of another account"):
        call_command("user", "address", user.email, other.email)
    with pytest.raises(NoAddress):
        change_address(user_id=user.pk, email="ısa@example.org", at=AT)

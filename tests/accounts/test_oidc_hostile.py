"""What a hostile provider, or somebody who poses as it or as the browser, tries: all of it is refused."""

import base64
import hashlib
import hmac
import json
import warnings
from collections.abc import Callable
from time import time

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.test import Client
from joserfc.errors import SecurityWarning
from joserfc.jwk import ECKey, RSAKey

from apps.accounts.access import single_sign_on
from apps.accounts.actions.people import deactivate_user
from apps.accounts.models import Identity, User
from tests.accounts.provider import CLIENT_ID, LEAVE_OUT, PERSON, FakeProvider, key
from tests.accounts.sso import Browser, link, refusal_of
from tests.factories import AT, make_member, make_project, make_user

pytestmark = pytest.mark.django_db

DAY = 86_400  # longer than any run of the tests
Lie = Callable[[FakeProvider, Browser], object]


def claims(**changed: object) -> Lie:
    return lambda provider, browser: provider.claims.update(changed)


def metadata(**changed: object) -> Lie:
    def lie(provider: FakeProvider, browser: Browser) -> None:
        provider.metadata |= changed
        single_sign_on._provider_of.cache_clear()

    return lie


def answer(**changed: object) -> Lie:
    return lambda provider, browser: browser.answer.update(changed)


def provider_with(**changed: object) -> Lie:
    return lambda provider, browser: provider.__dict__.update(changed)


def in_pieces(head: dict, body: dict, sign: Callable[[bytes], bytes]) -> str:
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (head, body)]
    signed = b".".join(parts)
    return (signed + b"." + base64.urlsafe_b64encode(sign(signed)).rstrip(b"=")).decode()


def body_of(provider: FakeProvider, browser: Browser) -> dict:
    """The claims of an honest token for this sign-in."""
    asked = provider._codes[browser.answer["code"]]
    now = int(time())
    return {"iss": provider.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 300, "nonce": asked["nonce"], **PERSON}


def unsigned(provider: FakeProvider, browser: Browser) -> None:
    provider.raw_token = in_pieces({"alg": "none", "kid": "key-0"}, body_of(provider, browser), lambda signed: b"")


def signed_with_the_public_key(provider: FakeProvider, browser: Browser) -> None:
    public = key(0).public_key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    head, body = {"alg": "HS256", "kid": "key-0"}, body_of(provider, browser)
    provider.raw_token = in_pieces(head, body, lambda signed: hmac.new(public, signed, hashlib.sha256).digest())


def changed_after_signing(provider: FakeProvider, browser: Browser) -> None:
    head, _, signature = provider.signed(body_of(provider, browser)).split(".")
    body = base64.urlsafe_b64encode(json.dumps(body_of(provider, browser) | {"sub": "other"}).encode()).decode()
    provider.raw_token = ".".join([head, body.rstrip("="), signature])


def several_nonces(provider: FakeProvider, browser: Browser) -> None:
    provider.claims["nonce"] = ["another", body_of(provider, browser)["nonce"]]


def signed_by_a_key_for_encryption(provider: FakeProvider, browser: Browser) -> None:
    provider.jwks = {"keys": [key(0).as_dict(private=False) | {"use": "enc"}]}


def signed_by_a_short_key(provider: FakeProvider, browser: Browser) -> None:
    with warnings.catch_warnings(action="ignore", category=SecurityWarning):
        short = RSAKey.import_key(rsa.generate_private_key(public_exponent=65537, key_size=1024), {"kid": "short"})
    provider.key, provider.published = short, [short]


def signed_by_a_key_of_another_kind(provider: FakeProvider, browser: Browser) -> None:
    """The head says RSA, the key of that id is of an elliptic curve."""
    curve = ECKey.generate_key("P-256", {"kid": "key-0"})
    provider.jwks = {"keys": [curve.as_dict(private=False)]}


def a_secret_among_the_keys(provider: FakeProvider, browser: Browser) -> None:
    secret = base64.urlsafe_b64encode(b"known to both sides, 32 bytes..").decode().rstrip("=")
    provider.jwks = {"keys": [{"kty": "oct", "k": secret, "kid": "key-0", "alg": "HS256"}]}
    signed_with_the_public_key(provider, browser)


def from_another_browser(provider: FakeProvider, browser: Browser) -> None:
    """The victim's browser is led to the return of a sign-in that the attacker began."""
    attacker = Browser(provider)
    attacker.leave()
    browser.answer = attacker.answer


def without_a_beginning(provider: FakeProvider, browser: Browser) -> None:
    browser.client = Client()


def with_the_code_of_another(provider: FakeProvider, browser: Browser) -> None:
    """The attacker has caught a code and redeems it in a sign-in of their own: the verifier does not fit."""
    victim = Browser(provider)
    victim.leave()
    browser.answer["code"] = victim.answer["code"]


def of_a_replayed_code(provider: FakeProvider, browser: Browser) -> None:
    provider._codes.clear()


def of_an_operator(provider: FakeProvider, browser: Browser) -> None:
    provider.claims["email"] = make_user("Operator", is_operator=True).email


def of_somebody_with_a_password(provider: FakeProvider, browser: Browser) -> None:
    provider.claims["email"] = make_user("Mara").email


def of_a_closed_account(provider: FakeProvider, browser: Browser) -> None:
    user = link(make_user("Mara"), provider)
    deactivate_user(user_id=user.pk, actor=None, at=AT)


HOSTILE: dict[str, tuple[Lie, str]] = {
    # The token: by whom, for whom
    "a token of another issuer": (claims(iss="https://login.evil.example"), "iss"),
    "a token without an issuer": (claims(iss=LEAVE_OUT), "iss"),
    "a token for another audience": (claims(aud="another-client"), "aud"),
    "a token without an audience": (claims(aud=LEAVE_OUT), "aud"),
    "a token for several audiences without a party": (claims(aud=[CLIENT_ID, "another-client"]), "azp"),
    "a token issued to another party": (claims(azp="another-client"), "azp"),
    "a token for several, issued to another": (claims(aud=[CLIENT_ID, "x"], azp="x"), "azp"),
    # Its signature
    "an unsigned token": (unsigned, "algorithm"),
    "a token signed with the public key as a secret": (signed_with_the_public_key, "algorithm"),
    "a secret published as a key": (a_secret_among_the_keys, "algorithm"),
    "a token changed after it was signed": (changed_after_signing, "signature"),
    "a token signed by an unknown key": (provider_with(key=key(1)), "key"),
    "a token signed by a key for encryption": (signed_by_a_key_for_encryption, "key"),
    "a token signed by a short key": (signed_by_a_short_key, "key"),
    "a token whose key is of another kind": (signed_by_a_key_of_another_kind, "signature"),
    "a token of an algorithm that discovery does not name": (
        metadata(id_token_signing_alg_values_supported=["ES256"]),
        "algorithm",
    ),
    "a provider that only offers no signature": (
        metadata(id_token_signing_alg_values_supported=["none", "HS256"]),
        "algorithm",
    ),
    # Its time
    "an expired token": (claims(exp=int(time()) - DAY), "exp"),
    "a token that never expires": (claims(exp=LEAVE_OUT), "exp"),
    "a token that expires at no number": (claims(exp=float("nan")), "exp"),
    "a token issued in the future": (claims(iat=int(time()) + DAY), "iat"),
    "a token issued at no time": (claims(iat=LEAVE_OUT), "iat"),
    "a token that is not yet valid": (claims(nbf=int(time()) + DAY), "nbf"),
    # Which sign-in it answers
    "a token with the nonce of another sign-in": (claims(nonce="another"), "nonce"),
    "a token without a nonce": (claims(nonce=LEAVE_OUT), "nonce"),
    "a token with a list of nonces": (several_nonces, "nonce"),
    # Whom it names
    "a token without a subject": (claims(sub=LEAVE_OUT), "sub"),
    "an empty subject": (claims(sub=""), "sub"),
    "a subject that is too long": (claims(sub="s" * 256), "sub"),
    "a subject that is no text": (claims(sub=17), "sub"),
    "a subject with a line break": (claims(sub="a\nb"), "sub"),
    "an unverified address": (claims(email_verified=False), "unverified"),
    "an address verified in words": (claims(email_verified="true"), "unverified"),
    "an address of which nothing is said": (claims(email_verified=LEAVE_OUT), "unverified"),
    "an address that is none": (claims(email="mara@example.org\nbcc: all"), "unverified"),
    "the address of an operator": (of_an_operator, "not_linked"),
    "the address of an account with a password": (of_somebody_with_a_password, "not_linked"),
    "an address that nobody invited": (claims(email="stranger@example.org"), "not_invited"),
    "the identity of a closed account": (of_a_closed_account, "closed"),
    # How the browser comes back
    "the state of another browser": (from_another_browser, "state"),
    "a changed state": (answer(state="guessed"), "state"),
    "no state": (answer(state=""), "state"),
    "a return that nobody began": (without_a_beginning, "no_flow"),
    "the code of another sign-in": (with_the_code_of_another, "code"),
    "a code that was redeemed before": (of_a_replayed_code, "code"),
    "two codes": (answer(code=["one", "two"]), "no_code"),
    "an endless code": (answer(code="c" * 5_000), "no_code"),
    "an answer of another provider": (answer(iss="https://login.evil.example"), "mixed_up"),
    "an answer that hides its provider": (answer(iss=""), "mixed_up"),
    "a denial": (answer(error="access_denied"), "denied"),
    "a denial without a state": (answer(error="access_denied", state=""), "denied_without_state"),
    "a denial with the state of another": (answer(error="access_denied", state="guessed"), "state"),
    # What the provider sends
    "a huge token": (provider_with(raw_token="e" * 70_000), "token_size"),
    "a token of two parts": (provider_with(raw_token="e30.e30"), "token_form"),
    "a token that is no text": (provider_with(raw_token=17), "no_token"),
    "a huge key set": (provider_with(jwks={"keys": [], "more": "x" * 300_000}), "provider_away"),
    "a thousand keys": (provider_with(jwks={"keys": [{}] * 1_000}), "keys"),
    "a key set without keys": (provider_with(jwks={}), "keys"),
    "a token endpoint that fails": (provider_with(token_status=500), "provider_away"),
    "a token endpoint that redirects": (provider_with(token_status=302), "provider_away"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_nobody_gets_in_with(what, provider, browser):
    lie, code = HOSTILE[what]
    browser.leave()
    lie(provider, browser)
    before = set(User.objects.values_list("pk", flat=True)), Identity.objects.count()

    response = browser.come_back()

    assert refusal_of(response) == code
    assert response.status_code in (403, 502)
    assert browser.user is None
    assert before == (set(User.objects.values_list("pk", flat=True)), Identity.objects.count())


DISCOVERY: dict[str, dict[str, object]] = {
    "names another issuer": {"issuer": "https://login.evil.example"},
    "names the issuer with a slash more": {"issuer": "http://127.0.0.1/"},
    "names no issuer": {"issuer": LEAVE_OUT},
    "sends people to plain HTTP": {"authorization_endpoint": "http://login.example.org/authorize"},
    "runs a script": {"authorization_endpoint": "javascript:alert(1)"},
    "has no endpoint for tokens": {"token_endpoint": LEAVE_OUT},
    "keeps its keys in a file": {"jwks_uri": "file:///etc/passwd"},
    "knows no challenge by SHA-256": {"code_challenge_methods_supported": ["plain"]},
    "wants the client to sign": {"token_endpoint_auth_methods_supported": ["private_key_jwt"]},
    "is huge": {"more": "x" * 300_000},
}


@pytest.mark.parametrize("how", DISCOVERY)
def test_nobody_is_led_to_a_provider_whose_discovery(how, provider, browser):
    provider.metadata |= DISCOVERY[how]

    response = browser.leave()

    assert response.status_code in (403, 502)
    assert refusal_of(response) in {"discovery_issuer", "provider_away"}
    assert "Location" not in response.headers


@pytest.mark.parametrize(
    "elsewhere",
    ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)", "http:///evil.example"],
)
def test_nobody_is_led_elsewhere_after_signing_in(elsewhere, provider, browser):
    user = link(make_user("Mara"), provider)

    response = browser.sign_in(elsewhere)

    assert (response.status_code, response.headers["Location"]) == (302, "/")
    assert browser.user == user


def test_an_answer_is_taken_once(provider, browser):
    """Also with a copy of the cookie, and with a provider that redeems its code twice."""
    user = link(make_user("Mara"), provider)
    browser.leave()
    thief = Browser(provider)
    thief.client.cookies, thief.answer = browser.client.cookies.copy(), dict(browser.answer)
    codes = dict(provider._codes)
    browser.come_back()
    provider._codes |= codes

    response = thief.come_back()

    assert browser.user == user
    assert refusal_of(response) == "state_used"


def test_a_key_that_was_rotated_meanwhile_is_fetched_and_believed(provider, browser):
    user = link(make_user("Mara"), provider)
    browser.sign_in()
    again = Browser(provider)
    again.leave()
    provider.rotate()

    again.come_back()

    assert again.user == user
    assert provider.asked.count("/jwks") == 2


def test_unknown_keys_do_not_make_karat_ask_again_and_again(provider):
    provider.key = key(1)
    for _ in range(4):
        assert refusal_of(Browser(provider).sign_in()) == "key"

    assert provider.asked.count("/jwks") == 2


def test_a_provider_that_fails_is_left_alone_for_a_while(provider):
    """Whoever presses the button again and again does not make the server wait again and again."""
    provider.metadata["issuer"] = "https://login.evil.example"
    codes = [refusal_of(Browser(provider).leave()) for _ in range(3)]

    assert codes == ["discovery_issuer", "provider_away", "provider_away"]
    assert provider.asked == ["/.well-known/openid-configuration"]


def test_while_one_asks_a_slow_provider_others_do_not_wait_for_it(provider, browser, monkeypatch):
    monkeypatch.setattr("apps.accounts.core.oidc.provider.PATIENCE_SECONDS", 0.01)
    with single_sign_on._provider()._metadata._turn:
        response = browser.leave()

    assert refusal_of(response) == "provider_away"
    assert browser.leave().status_code == 302


def test_an_address_that_fails_again_and_again_is_stopped_before_the_provider_is_asked(provider):
    provider.claims["nonce"] = "wrong"
    for _ in range(40):
        Browser(provider).sign_in()
    asked = provider.asked.count("/token")

    assert refusal_of(Browser(provider).sign_in()) == "too_many"
    assert provider.asked.count("/token") == asked == 40


def test_the_provider_decides_who_it_is_and_not_the_address(provider, browser):
    """Whoever takes over an address later does not take over the account."""
    project = make_project()
    first = make_member(project, "viewer", name="Mara")
    Identity.objects.create(user=first, issuer=provider.issuer, subject="somebody else", linked_at=AT)
    provider.claims["email"] = first.email

    response = browser.sign_in()

    assert refusal_of(response) == "not_linked"
    assert browser.user is None


DENIALS = {
    "access_denied": "Acme did not let you in: you said no there, or it does.",
    "temporarily_unavailable": "Acme has a fault or is overloaded",
    "login_required": "Acme wants you to sign in or agree there first.",
    "invalid_scope": "Acme does not accept how Karat is set up there. Tell whoever runs Karat: “invalid_scope”.",
    "<b>call 555-0100</b>": "Acme did not let you in. Begin again, or ask whoever runs it.",
    "{error.__class__}": "Acme did not let you in. Begin again, or ask whoever runs it.",
}


@pytest.mark.parametrize("error", DENIALS)
@pytest.mark.parametrize("with_state", [True, False])
def test_a_denial_is_said_in_our_own_words(error, with_state, provider, browser):
    browser.leave()
    browser.answer |= {"error": error, "error_description": "<i>555-0100</i>"}
    if not with_state:
        del browser.answer["state"]

    shown = browser.come_back().content.decode()

    assert DENIALS[error] in shown
    assert "555-0100" not in shown
    assert "__class__" not in shown


def test_a_denial_without_state_ends_neither_the_sign_in_that_was_begun_nor_a_session(provider, browser):
    """Anybody can send a browser to such an address."""
    user = link(make_user("Mara"), provider)
    browser.leave()
    own, browser.answer = browser.answer, {"error": "access_denied"}
    assert refusal_of(browser.come_back()) == "denied_without_state"

    browser.answer = own
    browser.come_back()
    assert browser.user == user

    browser.answer = {"error": "access_denied"}
    browser.come_back()
    assert browser.user == user

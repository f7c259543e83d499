"""What tells of a person is masked in a query, in each form that people write it, and what only looks so stays."""

import pytest

from apps.queries.core.masking import KINDS, MASK, Names, mask, with_masks

FOUND = {
    "e-mail": [
        "anna.meier@example.co.uk",
        "bob at example dot com",
        "john%40example.com",
        "user\uff20example.com",
        "o'neil+news@mail.example",
        "eva(at)example.org",
        "root@localhost",
    ],
    "link": ["https://a.example/reset?token=abc", "www.example.com/me", "a.example.com/x?key=1", "ftp://h.example/f"],
    "IP address": ["10.0.0.1", "192.168.10.0/24", "2001:db8::1", "fe80::1%eth0", "::ffff:10.1.2.3"],
    "phone": ["+49 30 1234567", "(555) 123-4567", "030/1234567", "555-1234", "0049-171-5551234", "+1.202.555.0143"],
    "card": ["4111 1111 1111 1111", "5500-0000-0000-0004", "378282246310005", "4\u200b111111111111111"],
    "IBAN": ["DE89 3704 0044 0532 0130 00", "GB29NWBK60161331926819", "fr1420041010050500013m02606"],
    "national id": [
        "123-45-6789",
        "AB 12 34 56 C",
        "86095742719",
        "12345678Z",
        "X1234567L",
        "RSSMRA85T10A562S",
        "111222333",
        "44051401359",
        "811218-9876",
        "756.9217.0769.85",
        "111.444.777-35",
        "2341 2341 2346",
        "1 85 05 78 006 084 91",
    ],
    "key": [
        "9f86d081884c7d659a2feaa0c55ad015",
        "123e4567-e89b-12d3-a456-426614174000",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx",
        "00:1B:44:11:3A:B7",
        "Zk3vQ9xLw7Tb2NpR8sYd",
    ],
    "street address": ["221b Baker Street", "hauptstraße 12", "12 rue de la paix", "via roma 7"],
    "name on list": ["Acme", "bright  water", "Bright-Water"],
}
LOOKS_SO = [
    "version 1.2.3 of nginx",
    "python 3.11.7 vs 3.12.0",
    "iso 27001:2022 annex a",
    "iso 27001 2013",
    "meeting on 2024-08-04 at 12:30:45",
    "covid-19 2020-2021 data",
    "1,234,567,890 people",
    "pi is 3.14159265358979",
    "error 0x80070005",
    "order 1234567",
    "CVE-2024-12345",
    "sha256 vs md5",
    "ManifestStaticFilesStorage error",
    "kubernetes-deployment-rollout-v128",
    "windows 11 22h2 update kb5034441",
    "12 rules of the road",
    "what is at the dot",
    "acmes and bright waters",
]
NAMES = Names(["Acme", "Bright Water"])


@pytest.mark.parametrize(("kind", "written"), [(kind, text) for kind in KINDS for text in FOUND[kind]])
@pytest.mark.parametrize("around", ["{}", "why was {} refused today", "({})", "{}, again", "login:{}"])
def test_what_tells_of_a_person_is_masked_wherever_it_stands(kind: str, written: str, around: str) -> None:
    text, found = mask(around.format(written), NAMES)
    assert found == (kind,)
    assert MASK.search(text)
    rest = MASK.sub("", text)
    for piece in written.casefold().split():
        assert not [word for word in rest.casefold().split() if piece in word and len(piece) > 3]


@pytest.mark.parametrize("text", LOOKS_SO)
def test_what_only_looks_so_stays_as_it_is(text: str) -> None:
    assert mask(text, NAMES) == (text, ())


def test_several_kinds_in_one_query_are_masked_each() -> None:
    text = "mail anna@example.org from 10.0.0.1 about acme, call +49 30 1234567"
    assert mask(text, NAMES) == (
        "mail [e-mail] from [IP address] about [name on list], call [phone]",
        ("e-mail", "IP address", "phone", "name on list"),
    )


def test_the_longest_name_of_a_list_is_masked() -> None:
    assert mask("bright water works", Names(["bright", "bright water works"])).text == "[name on list]"


@pytest.mark.parametrize(
    "written",
    [
        "4111.1111.1111.1111", "4111_1111_1111_1111", "4111,1111,1111,1111", "card4111111111111111",
        "4111 1111 1111 1111 12/28 123", "IBANDE89370400440532013000", "DE89  3704  0044  0532  0130  00",
        "DE 89 3704 0044 0532 0130 00", "DE89 370400440532013000", "+49(0)170-1234567", "phone0170 1234567",
        "anna.kowalska at example.com", "anna{at}example.com", "ssn123-45-6789", "SSN: 123456789",
        "passport C01X00T47", "RSSMRA 85T10 A562S", "AA-BB-CC-DD-EE-FF", "aabb.ccdd.eeff", "pw: Xk9$mQ2!vL",
        "linkedin.com/in/anna-kowalska", "example.com?token=abc", "intranet/search?q=anna",
        "C:\\Users\\anna.kowalska\\Desktop", "/home/akowalska/x", "Hauptstr 5", "Postfach 1234",
    ],
)  # fmt: skip
def test_other_ways_to_write_it_are_masked_whole(written: str) -> None:
    assert not [part for part, is_mask in with_masks(mask(f"why {written}").text)[1:] if not is_mask]


@pytest.mark.parametrize(
    "text",
    [
        "std::vector::push_back", "a::b", "C::D", "::1", "localhost 127.0.0.1", "mask 255.255.255.0",
        "5.10.2026 14:30", "npm i @types/node", "getUserByIdAndName2", "OAuth2AuthorizationCodeGrant",
        "X509Certificate2Collection", "AArch64InstrInfo", "Lösungsweg 3", "Arbeitsplatz 12", "connect via vpn 2",
        "2 place holder",
    ],
)  # fmt: skip
def test_words_of_technical_queries_stay(text: str) -> None:
    assert mask(text) == (text, ())


def test_names_are_found_in_other_letters_and_never_within_a_mask() -> None:
    names = Names(["Anna Kowalska", "card", "M\u00fcller"])
    text = "anna_kowalska ANNA-KOWALSKA Mu\u0308ller 4111 1111 1111 1111"
    assert mask(text, names).text == "[name on list] [name on list] [name on list] [card]"


WITHOUT_DIGITS = [
    "password=hunter", "pw =hunter", "secret:mellon", "shop.example?anna-maria&x", "sk-abcdefghijkl",
    "eva[at]mail[dot]example", "www.example.com", "dead-beef-cafe-deaf-beef", "aa-bb-cc-dd-ee-ff",
    "anna at example dot com",
]  # fmt: skip


@pytest.mark.parametrize("around", ["{}", "why was {} refused today", "({})"])
def test_a_text_is_masked_alike_with_a_list_of_names_and_without(around: str) -> None:
    """Every test above has a list; without one a text is searched only where something in it is worth a look."""
    listed = [text for kind, texts in FOUND.items() if kind != "name on list" for text in texts]
    for written in [*listed, *LOOKS_SO, *WITHOUT_DIGITS]:
        text = around.format(written)
        assert mask(text) == mask(text, Names(["nobody"]))


HOSTILE = ("a", "1", "a.", "ab1", "/a", "@", "a:", "+1 ", "a-1", "1 ", "id: ", "a@", "aA1", "x at ", "1.", "(")


@pytest.mark.parametrize("end", ["", "f "])
@pytest.mark.parametrize("piece", HOSTILE)
def test_no_text_holds_the_rules_up(piece, end):
    """A pattern that looked at every beginning with every end, or cut a run in every way, took minutes for these."""
    run = piece * 50 + end
    text = run * (8_000 // len(run))

    masked = mask(text, NAMES)

    assert len(masked.text) <= len(text) + 40 * len(masked.found)

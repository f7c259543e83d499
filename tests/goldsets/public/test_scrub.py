"""What goes out and what stays in, on plain rows: each reason, each field, and counts that add up."""

from dataclasses import replace

import pytest

from apps.goldsets.enums import StayReason
from apps.goldsets.formats.public.scrub import KINDS, Place, PublicContent, SourceTerms, Terms, select
from apps.goldsets.formats.public.words import NAME, ForbiddenWords, Found, PreviewLine, WordSearch, preview_lines
from tests.goldsets.content import SMALL
from tests.growth import MOST, time_for_eight_times

GOES = SourceTerms(None, "Open log", "query log")
BOTH = frozenset({"dev", "test"})


def terms(words: ForbiddenWords = ForbiddenWords(), splits=BOTH, **sources: SourceTerms) -> Terms:  # noqa: B008
    queries = {"Q01": sources.get("query", GOES), "Q02": GOES}
    return Terms(queries, {"T-0001": sources.get("triple", GOES)}, splits, words)


def reasons(content, decided: Terms) -> dict[str, StayReason]:
    return {stay.name: stay.reason for stay in select(content, decided).stays}


def test_everything_goes_when_everything_may():
    chosen = select(SMALL, terms())

    assert chosen.stays == []
    assert dict(chosen.going) == dict(chosen.inside) == {"passages": 2, "triples": 1, "queries": 2, "pairs": 3}


@pytest.mark.parametrize(
    "reason",
    [StayReason.NO_PERMISSION, StayReason.REVOKED, StayReason.EXPIRED, StayReason.INTERNAL, StayReason.CUSTOMER],
)
def test_an_item_stays_in_with_the_reason_of_its_source(reason):
    closed = SourceTerms(reason, "Interviews", "interview")

    assert reasons(SMALL, terms(query=closed)) == {"Q01": reason}
    assert reasons(SMALL, terms(triple=closed)) == {"T-0001": reason}


def test_an_item_without_a_source_stays_in():
    decided = replace(terms(), triples={})

    assert reasons(SMALL, decided) == {"T-0001": StayReason.NO_SOURCE}


def test_the_test_split_stays_in_unless_it_is_chosen():
    assert reasons(SMALL, terms(splits=frozenset({"dev"}))) == {"Q02": StayReason.SEALED}


@pytest.mark.parametrize(
    ("word", "stay"),
    [
        ("QUERY-TEXT", {"Q01": StayReason.WORD}),
        ("question", {"T-0001": StayReason.WORD}),
        ("answer", {"T-0001": StayReason.WORD}),
    ],
)
def test_a_word_where_an_item_needs_it_keeps_it_in(word, stay):
    query = SMALL.query_rows[0]._replace(text="Has query-text in it")
    triple = SMALL.triple_rows[0]._replace(question="A question", expected_answer="An answer")
    content = replace(SMALL, query_rows=[query, SMALL.query_rows[1]], triple_rows=[triple])

    assert reasons(content, terms(ForbiddenWords(inside=(word,)))) == stay


def test_subtopics_go_out_with_their_query_or_keep_it_in():
    query = SMALL.query_rows[0]._replace(facets=({"id": "who", "words": "Who of Castle Rock may enter"},))
    grades = [row._replace(facets=("who",)) if row.query_id == "Q01" else row for row in SMALL.grade_rows]
    content = replace(SMALL, query_rows=[query, SMALL.query_rows[1]], grade_rows=grades)

    assert reasons(content, terms(ForbiddenWords(inside=("Castle Rock",))))["Q01"] == StayReason.WORD
    public = PublicContent(content, terms(), select(content, terms()))
    assert [row.facets for row in public.queries()] == [query.facets, ()]
    assert {row.query_id: row.facets for row in public.grades()} == {"Q01": ("who",), "Q02": None}


def test_a_passage_with_a_word_stays_in_and_what_rests_on_it_too():
    decided = terms(ForbiddenWords(inside=("90 days",)))

    assert reasons(SMALL, decided) == {
        "b1": StayReason.WORD,
        "T-0001": StayReason.PASSAGE,
        "Q02": StayReason.NOTHING_LEFT,
    }


def test_a_redacted_passage_stays_in():
    redacted = SMALL.block_rows[1]._replace(text="", redacted={"digest": "d", "metadata_digest": "m"})

    assert reasons(replace(SMALL, block_rows=[SMALL.block_rows[0], redacted]), terms()) == {"b2": StayReason.REDACTED}


def test_a_word_where_an_item_can_do_without_is_taken_out_and_counted():
    block = SMALL.block_rows[0]._replace(title="Orrin keys", section=("Security", "Orrin"), document_title="Orrin")
    query = SMALL.query_rows[0]._replace(intent="For Orrin", description="orrin", domain="ORRIN", query_type="Orrin")
    content = replace(SMALL, block_rows=[block, SMALL.block_rows[1]], query_rows=[query, SMALL.query_rows[1]])
    decided = terms(ForbiddenWords(inside=("orrin",)))
    chosen = select(content, decided)
    public = PublicContent(content, decided, chosen)
    out = next(public.blocks())

    assert chosen.stays == []
    assert (out.title, out.section, out.document_title) == ("", ("Security",), "")
    assert [getattr(next(public.queries()), name) for name in ("intent", "description", "domain", "query_type")] == [
        ""
    ] * 4
    assert chosen.emptied["title"] == chosen.emptied["section"] == chosen.emptied["intent"] == 1


def test_people_are_numbered_and_dates_end_with_the_month():
    decided = terms()
    public = PublicContent(SMALL, decided, select(SMALL, decided))
    triple = next(public.triples())

    assert (triple.added_by, triple.reviewed_by, triple.added_at) == ("P1", ("P2", "P3"), "2026-11")


def test_nothing_goes_out_that_is_not_in_the_list_of_fields():
    query = SMALL.query_rows[0]._replace(label="a", group="b", tags=("c",), metadata={"d": "e"}, source="f")
    block = SMALL.block_rows[1]._replace(metadata={"owner": "x"})
    content = replace(SMALL, query_rows=[query, SMALL.query_rows[1]], block_rows=[SMALL.block_rows[0], block])
    decided = terms()
    public = PublicContent(content, decided, select(content, decided))
    out = next(public.queries())

    assert (out.label, out.group, out.tags, out.metadata, out.source) == ("", "", (), {}, "query log")
    assert [row.metadata for row in public.blocks()] == [{}, {}]
    assert public.judgements() is None
    assert list(public.slices()) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("asked by mara  will", "mara will"),
        ("Ask Ms. Will or M. Will about it", "Ms. Will"),
        ("Will it rain in the Will valley?", None),
        ("Maracas and goodwill", None),
        ("We met Orlaith there", "Orlaith"),
        ("Orlaith is a town", None),
        ("Security: the orlaith", None),
    ],
)
def test_names_match_whole_and_only_where_a_person_can_be_meant(text, found):
    search = WordSearch(ForbiddenWords(names=("Mara Will", "Orlaith")))

    hit = search.find(text)

    assert (hit and hit.word) == found
    assert hit is None or hit.what == NAME


def test_a_surname_that_is_a_common_word_leaves_domains_and_headings_alone():
    """A reviewer called Price emptied the domain "Price list" of every Q&A."""
    query = SMALL.query_rows[0]._replace(domain="Price", intent="Price of a seat", text="What is the price?")
    block = SMALL.block_rows[0]._replace(section=("Price list",), title="Price")
    content = replace(SMALL, query_rows=[query, *SMALL.query_rows[1:]], block_rows=[block, *SMALL.block_rows[1:]])

    chosen = select(content, terms(ForbiddenWords(names=("Ada Price", "ada@example.org"))))

    assert (chosen.stays, dict(chosen.hits), sum(chosen.emptied.values())) == ([], {}, 0)


@pytest.mark.parametrize(
    ("text", "what", "found"),
    [
        ("Write to jane.doe@example.com today", "e-mail address", "jane.doe@example.com"),
        ("call +44 20 7946 0958 now", "telephone number", "+44 20 7946 0958"),
        ("call (020) 7946 0958", "telephone number", "(020) 7946 0958"),
        ("call 030 1234 5678.", "telephone number", "030 1234 5678"),
        ("call 555-123-4567", "telephone number", "555-123-4567"),
        ("card 4111 1111 1111 1111", "card number", "4111 1111 1111 1111"),
        ("account DE89 3704 0044 0532 0130 00", "bank account number", "DE89 3704 0044 0532 0130 00"),
        ("from 8.8.8.8 only", "network address", "8.8.8.8"),
        ("key AKIAIOSFODNN7EXAMPLE", "token or key", "AKIAIOSFODNN7EXAMPLE"),
        ("use ghp_" + "a1B2" * 9, "token or key", "ghp_" + "a1B2" * 9),
        ("postgres://karat:secret@db", "token or key", "postgres://karat:secret@"),
        ("ｊａｎｅ＠example.com", "e-mail address", "jane@example.com"),
    ],
)
def test_addresses_numbers_and_tokens_are_found(text, what, found):
    assert [*WordSearch(ForbiddenWords()).find_all(text)] == [Found(found, what)]
    assert [*WordSearch(ForbiddenWords(allowed=(found.upper(),))).find_all(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "On 2026-11-28 and 28/11/2026 10 at 09:30",
        "card 4111 1111 1111 1112, order 1234567890123",
        "DE89 3704 0044 0532 0130 01",
        "10.0.0.1, 192.168.1.20, version 1.2.3.4000",
        "ISO 27001:2022, RFC 9110, 3.14159265358979",
        "sha256 " + "0123456789abcdef" * 4,
        "T-0001, Q01, pages 120-134, 12,500,000 rows, 1764288000",
        "user@localhost, @mention, a @ b",
    ],
)
def test_dates_versions_digests_and_amounts_are_none(text):
    assert [*WordSearch(ForbiddenWords()).find_all(text)] == []


PIECES = ["a.", "a@", "a@b.c ", "1 ", "+1 ", "0 1 ", "AB12 ", "1.", "eyJa.", "x://a:", "M. ", "-----BEGIN "]


@pytest.mark.parametrize("piece", PIECES)
def test_the_search_reads_a_text_once(piece):
    """Eight times as much text takes about eight times as long, whatever it repeats."""
    search = WordSearch(ForbiddenWords(names=("Mara Will", "Orlaith")))

    assert time_for_eight_times(lambda size: [*search.find_all(piece * size)], 1_000) <= MOST


def test_every_hit_is_told_with_its_place_and_can_be_allowed():
    query = SMALL.query_rows[0]._replace(text="Why a@b.example and c@d.example?", intent="For e@f.example")
    content = replace(SMALL, query_rows=[query, *SMALL.query_rows[1:]])

    chosen = select(content, terms())
    some = select(content, terms(ForbiddenWords(allowed=("a@b.example", "c@d.example"))))

    assert {stay.name: stay.reason for stay in chosen.stays} == {"Q01": StayReason.PERSONAL}
    assert [found.word for found in chosen.hits] == ["a@b.example", "c@d.example"]
    assert some.stays == []
    assert {found.word: places for found, places in some.hits.items()} == {
        "e@f.example": [Place("queries", "Q01", "intent")]
    }


def test_words_are_found_in_other_forms_of_the_same_letters():
    search = WordSearch(ForbiddenWords(inside=("Zephyr X",), whole=("logs",)))

    assert search.find("the ｚｅｐｈｙｒ\n x9").word == "zephyr x"
    assert search.find("blogs") is None
    assert search.find("Logs!").word == "logs"


def test_what_goes_and_what_stays_adds_up():
    decided = terms(ForbiddenWords(inside=("90 days",)), splits=frozenset({"dev"}))
    chosen = select(SMALL, decided)

    for kind in KINDS:
        staying = sum(stay.kind == kind for stay in chosen.stays)
        if kind != "pairs":
            assert chosen.inside[kind] == chosen.going[kind] + staying


def test_the_preview_has_each_field_with_what_takes_its_place():
    before = {"id": "T-1", "metadata": {"added_by": "Jun", "note": "night"}, "tags": ["a"]}
    after = {"id": "T-1", "metadata": {"added_by": "P1"}, "tags": []}

    assert preview_lines(before, after) == [
        PreviewLine("id", kept='"T-1"'),
        PreviewLine("metadata.added_by", struck='"Jun"', inserted='"P1"'),
        PreviewLine("metadata.note", struck='"night"'),
        PreviewLine("tags", struck='["a"]'),
    ]

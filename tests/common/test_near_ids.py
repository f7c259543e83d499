import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.files.near_ids import path_of, propose_fit

NUMBERED = {f"Q{number:02}" for number in range(1, 31)}


@pytest.mark.parametrize(
    ("unknown", "known", "difference"),
    [
        (["Q1", "Q2", "Q3"], NUMBERED, "leading zeros"),
        (["7", "12"], {"007", "012", "100"}, "leading zeros"),
        (["q01", "q30"], NUMBERED, "capitals"),
        (["q1", "q30"], NUMBERED, "capitals and leading zeros"),
        (["doc_12", "doc_13"], {"12", "13", "14"}, "the prefix doc_"),
        (["12", "13"], {"doc_12", "doc_13"}, "the prefix doc_"),
        (["1", "2"], NUMBERED, "the prefix Q and leading zeros"),
        (["a-v2", "b-v2"], {"a", "b"}, "the suffix -v2"),
        (["guides/move.md", "guides/grow.md"], {"guides/move", "guides/grow"}, "a file extension"),
        (["https://osterby.example/guides/move/"], {"guides/move"}, "the site's address or slashes"),
        (["/Storage/Volumes/"], {"/storage/volumes"}, "the site's address, slashes or capitals"),
        (
            ["https://a.example/guides/move.html?x=1#top"],
            {"guides/move.md"},
            "the site's address, slashes or a file ext",
        ),
        (["key rotation"], {"key_rotation"}, "hyphens, underscores or spaces"),
    ],
)
def test_one_rule_is_proposed_in_words(unknown, known, difference):
    proposal = propose_fit(unknown, known)

    assert proposal is not None
    assert proposal.difference.startswith(difference)
    assert list(proposal.fits) == unknown


def test_the_simplest_rule_that_fits_most_is_chosen():
    proposal = propose_fit(["q1", "Q2", "elsewhere"], NUMBERED)

    assert proposal.fits == {"q1": "Q01", "Q2": "Q02"}
    assert proposal.sentence == "2 of 3 ids nearly match: they differ by capitals and leading zeros, as q1 is Q01."


def test_a_single_id_is_described_in_the_singular():
    assert propose_fit(["Q1"], NUMBERED).sentence == "1 id nearly matches: it differs by leading zeros, as Q1 is Q01."


def test_a_rule_that_fits_two_known_ids_is_not_proposed():
    assert propose_fit(["q1"], {"Q1", "Q01"}).fits == {"q1": "Q1"}
    assert propose_fit(["7"], {"07", "007"}) is None


def test_two_spellings_of_one_id_fit_only_where_they_may_merge():
    assert propose_fit(["/A/", "/A//"], {"/a"}) is None
    assert propose_fit(["/A/", "/A//"], {"/a"}, may_merge=True).fits == {"/A/": "/a", "/A//": "/a"}


def test_an_id_that_the_file_has_exactly_is_not_reached_again():
    assert propose_fit(["Q1"], NUMBERED, taken={"Q01"}) is None
    assert propose_fit(["Q1"], NUMBERED, taken={"Q01"}, may_merge=True).fits == {"Q1": "Q01"}


def test_a_rule_for_fewer_than_half_of_the_ids_is_not_proposed():
    assert propose_fit(["Q1", "x", "y"], NUMBERED) is None


def test_numbers_and_words_are_not_cut_in_the_middle():
    assert propose_fit(["21", "31"], {"1", "2"}) is None
    assert propose_fit(["unkind", "unfit"], {"kind", "fit"}) is None


def test_nothing_is_proposed_without_ids():
    assert propose_fit([], NUMBERED) is None
    assert propose_fit(["Q1"], set()) is None
    assert propose_fit(["Q01", ""], NUMBERED) is None


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("https://osterby.example/guides/move/", "guides/move"),
        ("//osterby.example/a/index.html?x=1", "a"),
        ("/a%20b#c", "a b"),
        ("docs/README.md", "docs"),
        ("https://osterby.example", ""),
    ],
)
def test_the_path_of_an_address_has_no_origin_and_no_outer_slashes(address, path):
    assert path_of(address) == path


ids = st.from_regex(r"[A-Za-z]{0,3}[_/.-]?[0-9]{1,4}", fullmatch=True)


@given(unknown=st.lists(ids, max_size=12), known=st.sets(ids, max_size=12), taken=st.sets(ids, max_size=3))
def test_what_is_proposed_is_never_ambiguous(unknown, known, taken):
    proposal = propose_fit(unknown, known, taken=taken)

    if proposal is not None:
        assert set(proposal.fits) <= set(unknown) - known
        assert set(proposal.fits.values()) <= known - taken
        assert len(set(proposal.fits.values())) == len(proposal.fits)
        assert len(proposal.fits) * 2 >= proposal.unknown


@given(
    numbers=st.sets(st.integers(min_value=1, max_value=9_999), min_size=2, max_size=30),
    change=st.sampled_from(
        [
            lambda one: one.lower(),
            lambda one: f"Q{int(one[1:])}",
            lambda one: f"{int(one[1:])}",
            lambda one: f"run/{one}",
            lambda one: f"{one}.json",
            lambda one: f"https://osterby.example/{one}/",
        ]
    ),
)
def test_ids_spelt_by_another_rule_are_all_found(numbers, change):
    known = {f"Q{number:04}" for number in numbers}
    written = {change(one): one for one in known if change(one) not in known}

    proposal = propose_fit(written, known)

    assert written == {} or dict(proposal.fits) == written

import pytest

from apps.corpus.actions import corpora
from apps.corpus.selectors.search import search_blocks
from tests.corpus.factories import import_texts, make_corpus, make_snapshot
from tests.factories import AT, lead_of

pytestmark = pytest.mark.django_db


def ids(snapshot, text, **options):
    return [entry.block.outside_id for entry in search_blocks(snapshot, text, **options)]


@pytest.mark.parametrize(
    ("texts", "sought", "found"),
    [
        (["rotate keys", "keys and doors and windows", "lunch"], "rotate keys", ["b1", "b2"]),  # the best first
        (["Keys are rotated every quarter.", "lunch"], "rotating key", ["b1"]),  # in other forms
        (["encryption at rest", "lunch"], "encr", ["b1"]),  # the last word is a beginning
        (["see b2 b2 b2", "lunch"], "b2", ["b2", "b1"]),  # an id comes first
    ],
)
def test_search_finds_blocks_by_any_word_and_by_id(texts, sought, found):
    snapshot = make_snapshot(texts={f"b{number}": text for number, text in enumerate(texts, 1)})

    assert ids(snapshot, sought) == found
    assert ids(snapshot, sought, limit=1) == found[:1]


@pytest.mark.parametrize(
    "text", ["", "  ", "'", '"', "keys' OR 1=1 --", 'keys" AND (', "keys:*", "NEAR(keys", "a & | ! (", "-keys"]
)
def test_signs_in_the_words_are_only_words(text):
    snapshot = make_snapshot(texts={"b1": "keys", "b2": "lunch"})

    assert ids(snapshot, text) == (["b1"] if "keys" in text else [])


def test_search_stays_within_its_snapshot():
    corpus = make_corpus(texts={"b1": "old words"})
    first = make_snapshot(corpus=corpus)
    import_texts(corpus, {"b1": "new words", "b9": "more words"})
    second = make_snapshot(corpus=corpus)

    assert ids(first, "words") == ["b1"]
    assert [entry.version.text for entry in search_blocks(first, "words")] == ["old words"]
    assert sorted(ids(second, "words")) == ["b1", "b9"]


def test_a_redacted_text_is_no_longer_found():
    snapshot = make_snapshot(texts={"b1": "secret words", "b2": "other words"})
    version = snapshot.entries.get(position=0).version

    corpora.redact_version(version_id=version.pk, reason="asked for", actor=lead_of(snapshot.corpus.project), at=AT)

    assert ids(snapshot, "secret words") == ["b2"]

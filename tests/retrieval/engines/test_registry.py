import pytest

from apps.retrieval.core.engines import ENGINES, BadParameters, defaults, make

READY = [name for name, engine in ENGINES.items() if not engine.needs_model]


@pytest.mark.parametrize("name", READY)
def test_every_engine_without_a_model_can_be_made_from_its_defaults(name):
    assert make(name) == make(name, defaults(name))


@pytest.mark.parametrize("name", READY)
def test_identity_holds_every_parameter(name):
    assert set(defaults(name)) | {"engine", "revision"} == set(make(name).identity())


def test_another_parameter_is_another_identity():
    assert make("bm25", {"k1": 1.2}).identity() != make("bm25").identity()


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        ("bm52", {}, "There is no engine “bm52”. Choose one of bm25, tfidf, lsa, dense."),
        ("bm25", {"k2": 1}, "BM25 has no parameter “k2”."),
        ("bm25", {"k1": -1}, "k1 is -1; it is a number from 0 to 10."),
        ("bm25", {"b": float("nan")}, "b is nan; it is a number from 0 to 1."),
        ("bm25", {"b": True}, "b is True; it is a number from 0 to 1."),
        ("bm25", {"b": "0.4"}, "b is '0.4'; it is a number from 0 to 1."),
        ("tfidf", {"sublinear": 1}, "sublinear is 1; it is either true or false."),
        ("lsa", {"dimensions": 1}, "dimensions is 1; it is a whole number from 2 to 1000."),
        ("lsa", {"dimensions": 2.5}, "dimensions is 2.5; it is a whole number from 2 to 1000."),
        ("dense", {"query_prefix": 1}, "query_prefix is 1; it is a text of at most 200 characters."),
        ("dense", {"max_tokens": 1}, "max_tokens is 1; it is a whole number from 8 to 8192."),
        ("tfidf", {"stemmer": ["s"]}, "stemmer is ['s']; choose one of none, s."),
    ],
)
def test_a_wrong_parameter_is_named(name, values, sentence):
    with pytest.raises(BadParameters) as refused:
        make(name, values)

    assert str(refused.value) == sentence

import pytest

from apps.retrieval.engines import ENGINES, BadParameters, defaults, make


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_can_be_made_from_its_defaults(name):
    assert make(name) == make(name, defaults(name))


@pytest.mark.parametrize("name", ENGINES)
def test_identity_holds_every_parameter(name):
    assert set(defaults(name)) | {"engine", "revision"} == set(make(name).identity())


def test_another_parameter_is_another_identity():
    assert make("bm25", {"k1": 1.2}).identity() != make("bm25").identity()


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        ("bm52", {}, "There is no engine “bm52”. Choose one of bm25, tfidf."),
        ("bm25", {"k2": 1}, "BM25 has no parameter “k2”."),
        ("bm25", {"k1": -1}, "k1 is -1; it is a number from 0 to 10."),
        ("bm25", {"b": float("nan")}, "b is nan; it is a number from 0 to 1."),
        ("bm25", {"b": True}, "b is True; it is a number from 0 to 1."),
        ("bm25", {"b": "0.4"}, "b is '0.4'; it is a number from 0 to 1."),
        ("tfidf", {"sublinear": 1}, "sublinear is 1; it is either true or false."),
        ("tfidf", {"stemmer": ["s"]}, "stemmer is ['s']; choose one of none, s."),
    ],
)
def test_a_wrong_parameter_is_named(name, values, sentence):
    with pytest.raises(BadParameters) as refused:
        make(name, values)

    assert str(refused.value) == sentence

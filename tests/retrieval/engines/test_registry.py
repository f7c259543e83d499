import pytest

from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.registry import ENGINES, make, parameters_of

READY = [name for name, engine in ENGINES.items() if not engine.needs_model]


@pytest.mark.parametrize("name", READY)
def test_an_engine_without_a_model_is_made_from_its_defaults_and_tells_them_all(name):
    defaults = {parameter.name: parameter.default for parameter in parameters_of(name)}

    assert make(name) == make(name, defaults)
    assert set(defaults) | {"engine", "revision"} == set(make(name).identity())


def test_another_parameter_is_another_identity():
    assert make("bm25", {"k1": 1.2}).identity() != make("bm25").identity()


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        ("bm52", {}, "There is no engine “bm52”. Choose one of bm25, tfidf, lsa, dense."),
        ("bm25", {"k2": 1}, "BM25 has no parameter “k2”."),
        ("bm25", {"k1": -1}, "k1 must be a number from 0 to 10, not -1."),
        ("bm25", {"b": float("nan")}, "b must be a number from 0 to 1, not nan."),
        ("bm25", {"b": True}, "b must be a number from 0 to 1, not True."),
        ("bm25", {"b": "0.4"}, "b must be a number from 0 to 1, not '0.4'."),
        ("tfidf", {"sublinear": 1}, "sublinear must be true or false, not 1."),
        ("lsa", {"dimensions": 1}, "dimensions must be a whole number from 2 to 1000, not 1."),
        ("lsa", {"dimensions": 2.5}, "dimensions must be a whole number from 2 to 1000, not 2.5."),
        ("dense", {"query_prefix": 1}, "query_prefix must be a text of at most 200 characters."),
        ("dense", {"max_tokens": 1}, "max_tokens must be a whole number from 8 to 8192, not 1."),
        ("tfidf", {"stemmer": ["s"]}, "stemmer must be one of none, s, not ['s']."),
    ],
)
def test_a_wrong_parameter_is_named(name, values, sentence):
    with pytest.raises(BadParameters) as refused:
        make(name, values)

    assert str(refused.value) == sentence

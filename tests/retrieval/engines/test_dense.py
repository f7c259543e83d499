import numpy as np
import pytest

from apps.retrieval.core.engines import encoder
from apps.retrieval.core.engines.base import BadParameters, NotReady
from apps.retrieval.core.engines.dense import Dense
from apps.retrieval.core.engines.encoder import model_names, sha256_of
from apps.retrieval.core.engines.registry import make, parameters_of
from tests.retrieval.tiny_models import WORDS, make_model, needs_packages, table_of


@pytest.fixture(autouse=True)
def nothing_loaded():
    encoder.encoder_of.cache_clear()
    yield
    encoder.encoder_of.cache_clear()


def engine_in(folder, **values):
    return Dense(folder, sha256_of(folder), **values)


def slow_vector(text, table, *, pooling="mean", max_tokens=256):
    ids = [WORDS.index(word) if word in WORDS else 0 for word in text.lower().split()][:max_tokens]
    rows = table[ids].astype(np.float64)
    vector = rows[0] if pooling == "cls" else rows.mean(axis=0)
    return vector / np.linalg.norm(vector)


def some_texts(count, seed=5):
    draw = np.random.default_rng(seed)
    return [" ".join(draw.choice(WORDS[1:], draw.integers(1, 14))) for _ in range(count)]


@needs_packages
@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("max_tokens", [8, 256])
def test_rankings_are_those_of_a_slow_reference(tmp_path, pooling, max_tokens):
    engine = engine_in(make_model(tmp_path / "tiny"), pooling=pooling, max_tokens=max_tokens)
    blocks, queries = some_texts(700), ["ship sea", "Red door", "bread oven flour unheard"]
    rows = np.stack([slow_vector(text, table_of(), pooling=pooling, max_tokens=max_tokens) for text in blocks])

    found = engine.search(engine.index(iter(blocks)), queries, 50)

    for number, query in enumerate(queries):
        expected = rows @ slow_vector(query, table_of(), pooling=pooling, max_tokens=max_tokens)
        positions, scores = found.of(number)
        np.testing.assert_allclose(scores, np.sort(expected)[::-1][:50], atol=1e-6)
        np.testing.assert_allclose(scores, expected[positions], atol=1e-6)


@needs_packages
def test_prefixes_precede_queries_and_blocks(tmp_path):
    folder = make_model(tmp_path / "tiny")
    engine = engine_in(folder, query_prefix="query ", passage_prefix="passage ")

    _, scores = engine.search(engine.index(["ship"]), ["boat"], 1).of(0)

    expected = slow_vector("query boat", table_of()) @ slow_vector("passage ship", table_of())
    np.testing.assert_allclose(scores, [expected], atol=1e-6)


@needs_packages
def test_equal_texts_tie_in_descending_position_wherever_they_are(tmp_path):
    engine = engine_in(make_model(tmp_path / "tiny"))
    texts = some_texts(1_100)
    texts[3] = texts[400] = texts[600] = texts[1_099] = "red green key door oven"

    positions, scores = engine.search(engine.index(texts), ["red green key door oven"], 4).of(0)

    assert positions.tolist() == [1_099, 600, 400, 3]
    assert len(set(scores.tolist())) == 1


@needs_packages
def test_the_same_blocks_give_the_same_bits_and_a_saved_index_answers_alike(tmp_path):
    engine = engine_in(make_model(tmp_path / "tiny"))
    texts = some_texts(600)
    handle = engine.index(texts)
    (tmp_path / "saved").mkdir()
    engine.build(texts, tmp_path / "saved")
    encoder.encoder_of.cache_clear()

    assert engine.index(texts).tobytes() == handle.tobytes()
    fresh = engine.search(handle, texts[:20], 30)
    again = engine.search(engine.load(tmp_path / "saved"), texts[:20], 30)
    assert [part.tobytes() for part in fresh[:3]] == [part.tobytes() for part in again[:3]]


@needs_packages
@pytest.mark.parametrize("blocks", [[], [""], ["", "  \n"], ["", "ship", ""]])
def test_blank_blocks_and_blank_queries_have_no_matches(tmp_path, blocks):
    engine = engine_in(make_model(tmp_path / "tiny"), passage_prefix="passage ", query_prefix="query ")
    handle = engine.index(blocks)

    assert engine.search(handle, ["boat", " "], 5).offsets.tolist() == [0, int("ship" in blocks), int("ship" in blocks)]


@needs_packages
def test_a_graph_may_be_where_exports_put_it_and_require_token_types(tmp_path):
    folder = make_model(
        tmp_path / "tiny", graph="onnx/model.onnx", inputs=("input_ids", "attention_mask", "token_type_ids")
    )

    assert model_names(tmp_path) == ["tiny"]
    assert engine_in(folder).index(["ship", "sea"]).shape == (2, 6)


@needs_packages
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"op": "Shape"}, "The model tiny does not return a vector per token. Choose one that does."),
        ({"inputs": ("input_ids", "pixels")}, "The model tiny needs the input pixels, which Karat cannot provide."),
        ({"table": np.full((13, 6), np.nan, dtype=np.float32)}, "The model tiny returns values that are not numbers."),
        ({"table": np.zeros((1, 6), dtype=np.float32)}, "The model tiny failed with an input of length 1: "),
    ],
)
def test_a_model_that_does_not_fit_is_refused_with_the_reason(tmp_path, wrong, sentence):
    engine = engine_in(make_model(tmp_path / "tiny", **wrong))

    with pytest.raises(NotReady) as refused:
        engine.index(["ship"])

    assert str(refused.value).startswith(sentence)


@needs_packages
def test_a_file_that_is_not_a_model_is_rejected(tmp_path):
    folder = make_model(tmp_path / "tiny")
    (folder / "model.onnx").write_bytes(b"no model")

    with pytest.raises(NotReady, match=r"The model tiny cannot be loaded: .* Check its files\."):
        engine_in(folder).index(["ship"])


def test_another_model_under_the_same_name_is_another_system(tmp_path, with_packages):
    make_model(tmp_path / "tiny", seed=0)
    first = make("dense", {"model": "tiny"}, tmp_path)
    make_model(tmp_path / "tiny", seed=1)

    assert make("dense", {"model": "tiny"}, tmp_path).identity() != first.identity()


@pytest.mark.parametrize("file", ["tokenizer.json", "model.onnx", "model.onnx_data"])
def test_every_file_of_a_model_counts(tmp_path, file):
    folder = make_model(tmp_path / "tiny")
    (folder / "model.onnx_data").write_bytes(b"weights")
    before = sha256_of(folder)
    (folder / "README.md").write_text("counts for nothing")
    assert sha256_of(folder) == before

    (folder / file).write_bytes(b"other")

    assert sha256_of(folder) != before


def test_identity_is_what_makes_the_engine_again_without_a_look_at_its_files(tmp_path, with_packages):
    make_model(tmp_path / "tiny")
    identity = make("dense", {"model": "tiny", "pooling": "cls", "query_prefix": "query: "}, tmp_path).identity()
    values = {key: value for key, value in identity.items() if key not in {"engine", "revision"}}

    assert set(values) == {parameter.name for parameter in parameters_of("dense")}
    assert make("dense", values, tmp_path / "gone").identity() == identity


@pytest.mark.parametrize("packages", ["with", pytest.param("really", marks=needs_packages)])
def test_other_files_than_those_it_was_made_with_are_refused(tmp_path, monkeypatch, packages):
    if packages == "with":
        monkeypatch.setattr(encoder, "PACKAGES", ())
    folder = make_model(tmp_path / "tiny")
    engine = engine_in(folder)
    make_model(folder, seed=1)

    with pytest.raises(NotReady, match=r"have changed since the system was created .* create a new system"):
        engine.search(np.zeros((1, 6), dtype=np.float32), ["ship"], 1)


def test_a_folder_that_is_gone_is_refused(tmp_path, with_packages):
    engine = engine_in(make_model(tmp_path / "tiny"))
    (tmp_path / "tiny").rename(tmp_path / "elsewhere")

    with pytest.raises(NotReady, match=r"The model tiny cannot be read: there is no model\.onnx\. Put its"):
        engine.index(["ship"])


def test_without_the_packages_it_says_how_to_get_them(tmp_path, without_packages):
    folder = make_model(tmp_path / "tiny")

    with pytest.raises(BadParameters, match=r"Install karat\[dense\]"):
        make("dense", {"model": "tiny"}, tmp_path)
    with pytest.raises(NotReady, match=r"Install karat\[dense\]"):
        engine_in(folder).index(["ship"])
    with pytest.raises(NotReady, match=r"Install karat\[dense\]"):
        engine_in(folder).search(np.zeros((1, 6), dtype=np.float32), ["ship"], 1)


@pytest.mark.parametrize("name", ["", ".", "..", "../tiny", "/etc", "tiny/onnx", "a\\b", "a\0b", ".hidden"])
@pytest.mark.parametrize("digest", ["", "0" * 64])
def test_a_name_that_leads_out_of_the_folder_of_models_is_refused(tmp_path, with_packages, name, digest):
    make_model(tmp_path / "tiny")
    make_model(tmp_path / "models" / "good")

    with pytest.raises(BadParameters, match=r"is not the name of a model folder. Choose one of good\."):
        make("dense", {"model": name, "sha256": digest}, tmp_path / "models")


def test_only_folders_with_a_model_and_its_tokenizer_can_be_chosen(tmp_path, with_packages):
    make_model(tmp_path / "whole")
    make_model(tmp_path / ".hidden")
    make_model(tmp_path / "half")
    (tmp_path / "half" / "tokenizer.json").unlink()
    (tmp_path / "notes.txt").write_text("")

    assert model_names(tmp_path) == ["whole"]
    assert model_names(tmp_path / "nowhere") == []
    with pytest.raises(BadParameters, match=r"There is no model “half”. Choose one of whole\."):
        make("dense", {"model": "half"}, tmp_path)
    with pytest.raises(BadParameters, match="Ask the operator"):
        make("dense", {"model": "whole"}, tmp_path / "nowhere")

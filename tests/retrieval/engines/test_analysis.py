import pytest

from apps.retrieval.core.engines.building import Analysis


def terms(text, **options):
    analysis = Analysis(**options)
    return [term for token in analysis.tokens(text) if (term := analysis.term(token))]


def test_words_are_folded_and_stop_words_dropped():
    assert terms("The Access-Control policies ARE reviewed.") == ["access", "control", "policy", "reviewed"]


def test_compatibility_forms_are_one_word():
    assert terms("ﬁle Ｆｉｌｅ straße", stop_words="none") == ["file", "file", "strasse"]


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("policies", "policy"),
        ("movies", "movy"),
        ("aeies", "aeies"),
        ("passes", "passe"),
        ("heroes", "heroes"),
        ("keys", "key"),
        ("status", "status"),
        ("access", "access"),
        ("gas", "gas"),
    ],
)
def test_s_stemmer_takes_the_first_rule_whose_ending_fits(word, stem):
    assert terms(word, stop_words="none") == [stem]


def test_stemmer_none_leaves_words_alone():
    assert terms("policies keys", stemmer="none") == ["policies", "keys"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("東京都政府", ["東京", "京都", "都政", "政府"]),
        ("S3バケットの policies", ["s3", "バケ", "ケッ", "ット", "トの", "policy"]),
        ("ﾊﾞｯｸｱｯﾌﾟ 水", ["バッ", "ック", "クア", "アッ", "ップ", "水"]),
        ("ที่เก็บ", ["ที", "ี่", "่เ", "เก", "ก็", "็บ"]),
        ("키 회전 주기", ["키", "회전", "주기"]),
    ],
)
def test_where_a_script_has_no_blanks_pairs_of_characters_are_the_words(text, tokens):
    assert terms(text) == tokens


def test_words_alone_keep_their_meaning_for_the_systems_that_have_them():
    assert terms("東京都政府 S3バケット", tokenizer="words") == ["東京都政府", "s3バケット"]


def test_trigrams_are_windows_of_words():
    assert terms("in keys", tokenizer="trigrams") == ["key", "eys"]


def test_trigrams_serve_scripts_without_spaces():
    assert terms("东京都政府", tokenizer="trigrams", stop_words="none") == ["东京都", "京都政", "都政府"]


def test_no_text_has_no_terms():
    assert terms(" .,;— ") == []


@pytest.mark.parametrize(
    ("language", "text", "kept"),
    [
        ("german", "Die Schlüssel für das große Tor", ["schlüssel", "grosse", "tor"]),
        ("french", "La clé de l’école où elle était", ["clé", "école", "était"]),
        ("spanish", "El niño y las llaves de la casa", ["niño", "llaves", "casa"]),
        ("english", "The key to the old house", ["key", "old", "house"]),
    ],
)
def test_each_language_has_stop_words_of_its_own(language, text, kept):
    assert terms(text, stop_words=language, stemmer="none") == kept

"""The help of each page, and of words: short. `tests/test_docs.py` follows their links."""

import re

import pytest

from apps.common.templatetags.karat import TERMS
from apps.dashboard.pages.shell import HELP


@pytest.mark.parametrize("name", sorted(HELP))
def test_the_help_of_a_page_is_one_to_five_sentences(name):
    words = HELP[name].words

    assert words.endswith(".")
    assert 1 <= len(re.findall(r"[.?](?: |$)", words)) <= 5
    assert len(words) < 400


@pytest.mark.parametrize("word", sorted(TERMS))
def test_a_word_is_explained_in_one_sentence(word):
    assert len(re.findall(r"[.?](?: |$)", TERMS[word].sentence)) <= 2
    assert len(TERMS[word].sentence) < 200

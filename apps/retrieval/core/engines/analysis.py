"""Text analysis of the lexical engines: tokens, stop words, stemming."""

import re
import unicodedata
from dataclasses import dataclass

from apps.common.text.words import windows, words_of
from apps.retrieval.core.engines.stopwords import STOP_WORDS

_WORD = re.compile(r"\w+")

TOKENIZERS = ("words_or_bigrams", "words", "trigrams")
STEMMERS = ("none", "s")


@dataclass(frozen=True)
class Analysis:
    """How a text becomes terms.

    The tokens `words` are runs of letters, digits and underscores after NFKC and case folding. `words_or_bigrams` are
    these too, but pairs of characters where a script has no blanks between words (`words_of`). `trigrams` are the
    three-character windows of each word of any script; they are not stemmed. Stop words are whole words, removed
    before stemming. The stemmer `s` removes English plural endings (Harman 1991, "How effective is suffixing?").
    """

    tokenizer: str = "words_or_bigrams"
    stop_words: str = "english"
    stemmer: str = "s"

    def tokens(self, text: str) -> list[str]:
        """The raw tokens of a text, in order; `term` turns each into an index term."""
        if not text.isascii():
            text = unicodedata.normalize("NFKC", text)
        text = text.casefold()
        if self.tokenizer == "words_or_bigrams":
            return words_of(text)
        words = _WORD.findall(text)
        if self.tokenizer == "words":
            return words
        content_words = (word for word in words if word not in STOP_WORDS[self.stop_words])
        return [gram for word in content_words for gram in windows(word, 3)]

    def term(self, token: str) -> str:
        """The index term of a token; empty for a stop word."""
        if self.tokenizer == "trigrams":
            return token
        if token in STOP_WORDS[self.stop_words]:
            return ""
        return _singular(token) if self.stemmer == "s" else token


def _singular(token: str) -> str:
    """Harman's S stemmer: the first rule with a matching ending applies; its exceptions leave the word unchanged."""
    if len(token) < 4 or not token.endswith("s"):
        return token
    if token.endswith("ies"):
        return token if token.endswith(("eies", "aies")) else token[:-3] + "y"
    if token.endswith("es"):
        return token if token.endswith(("aes", "ees", "oes")) else token[:-1]
    return token if token.endswith(("us", "ss")) else token[:-1]

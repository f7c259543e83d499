"""NIST's controls as a corpus with known relevance, cut into windows, and systems that search the windows."""

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.preprocessing import normalize

STATEMENT, GUIDANCE, ENHANCEMENT = 3, 2, 1
DEPTH = 10
_INSERTED = re.compile(r"\{\{.*?\}\}")


class Controls(NamedTuple):
    """The blocks of each family in the order of the catalog, the title of each control, and the grades of its blocks by
    their numbers over all families.
    """

    documents: list[list[str]]
    questions: list[str]
    grades: list[dict[int, int]]


class Window(NamedTuple):
    """A window of a document, and the words from … to before … of it."""

    document: int
    first: int
    last: int
    text: str


def controls_of(folder: Path) -> Controls:
    (path,) = (folder / "rev5_2021-06").glob("*.json")
    documents, questions, grades, number = [], [], [], 0
    for family in json.loads(path.read_text())["catalog"]["groups"]:
        blocks: list[str] = []
        for control in family["controls"]:
            given = {}
            for text, grade in _blocks(control):
                given[number], number = grade, number + 1
                blocks.append(text)
            if given:
                questions.append(control["title"])
                grades.append(given)
        documents.append(blocks)
    return Controls(documents, questions, grades)


def _blocks(control: dict[str, Any]) -> Iterator[tuple[str, int]]:
    parts = {part["name"]: _prose(part) for part in control.get("parts", [])}
    own = [(parts.get("statement", ""), STATEMENT), (parts.get("guidance", ""), GUIDANCE)]
    more = [(_prose(part), ENHANCEMENT) for each in control.get("controls", []) for part in each.get("parts", [])]
    return ((text, grade) for text, grade in [*own, *more] if text)


def _prose(part: dict[str, Any]) -> str:
    own = _INSERTED.sub("", part.get("prose", ""))
    return " ".join(filter(None, [own, *(_prose(inner) for inner in part.get("parts", []))]))


def plain(text: str) -> list[str]:
    """The words of an English text, without the program's own code."""
    return re.findall(r"[^\W_]+", text.lower())


def windows_of(documents: list[list[str]], size: int, overlap: float) -> list[Window]:
    """Windows of so many words, each beginning where the last one has this share left."""
    found, step = [], int(size * (1 - overlap))
    for place, document in enumerate(documents):
        words = plain(" ".join(document))
        starts = range(0, max(1, len(words) - int(size * overlap)), step)
        found += [Window(place, one, min(one + size, len(words)), " ".join(words[one : one + size])) for one in starts]
    return found


def _by_weights(texts: list[str], questions: list[str]) -> np.ndarray:
    idf = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    weighed = idf.fit_transform(texts)
    return (idf.transform(questions) @ weighed.T).toarray()


def _by_bm25(texts: list[str], questions: list[str]) -> np.ndarray:
    counts = CountVectorizer(stop_words="english")
    tf, asked = counts.fit_transform(texts).toarray().astype(float), counts.transform(questions).toarray()
    length, held = tf.sum(axis=1, keepdims=True), (tf > 0).sum(axis=0)
    weight = np.log1p((len(tf) - held + 0.5) / (held + 0.5))
    return (asked > 0) @ (weight * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / length.mean()))).T


def _by_letters(texts: list[str], questions: list[str]) -> np.ndarray:
    grams = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 4))
    vectors = grams.fit_transform(texts)
    return (grams.transform(questions) @ vectors.T).toarray()


def _by_topics(size: int, texts: list[str], questions: list[str]) -> np.ndarray:
    idf, svd = TfidfVectorizer(sublinear_tf=True, stop_words="english"), TruncatedSVD(size, random_state=1)
    reduced = normalize(svd.fit_transform(idf.fit_transform(texts)))
    return normalize(svd.transform(idf.transform(questions))) @ reduced.T


def _by_counts(texts: list[str], questions: list[str]) -> np.ndarray:
    counts = CountVectorizer(stop_words="english")
    tf = counts.fit_transform(texts)
    return (counts.transform(questions) @ tf.T).toarray().astype(float)


def _by_first_words(texts: list[str], questions: list[str]) -> np.ndarray:
    return _by_weights([" ".join(text.split()[:25]) for text in texts], questions)


SYSTEMS = {
    "weights": _by_weights,
    "bm25": _by_bm25,
    "letters": _by_letters,
    **{f"topics {size}": partial(_by_topics, size) for size in (150, 30, 8)},
    "counts": _by_counts,
    "first words": _by_first_words,
}
"""Eight systems, from good to bad."""


def ranked(system: str, windows: list[Window], questions: list[str]) -> list[list[int]]:
    """The windows that a system returns for each question, best first."""
    scores = SYSTEMS[system]([one.text for one in windows], questions)
    return np.argsort(-scores, axis=1, kind="stable")[:, :DEPTH].tolist()

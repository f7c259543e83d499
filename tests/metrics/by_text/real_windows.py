"""Real texts as corpora with known relevance, cut into windows, and systems that search the windows.

They are NIST's controls, which their titles ask for, and cloud.gov's answers, which the statements of these ask for.
"""

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.preprocessing import normalize

STATEMENT, GUIDANCE, ENHANCEMENT = 3, 2, 1
FEWEST_WORDS = 8
DEPTH = 10
_INSERTED = re.compile(r"\{\{.*?\}\}")


class Graded(NamedTuple):
    """The blocks of each document in their order, the questions, and for each the grades of blocks by their numbers
    over all documents.
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


def controls_of(data: Path) -> Graded:
    """NIST's controls: a family is a document."""
    documents, questions, grades, number = [], [], [], 0
    for family in _families(data / "nist_800_53" / "rev5_2021-06"):
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
    return Graded(documents, questions, grades)


def _families(folder: Path) -> list[dict[str, Any]]:
    (path,) = folder.glob("*.json")
    return json.loads(path.read_text())["catalog"]["groups"]


def answers_of(data: Path) -> Graded:
    """cloud.gov's answers: a component is a document. Those of a control have the highest grade for its statement, and
    those of its enhancements the lowest. Answers of a few words, and those given before, are left out.
    """
    statements = {
        control["id"]: " ".join(_prose(part) for part in control.get("parts", []) if part["name"] == "statement")
        for family in _families(data / "nist_800_53" / "rev4_2021-06")
        for control in family["controls"]
    }
    documents, seen, number = [], set(), 0
    grades: dict[str, dict[int, int]] = {}
    for path in sorted((data / "cg_compliance" / "2016-11-04").glob("*/component.yaml")):
        blocks: list[str] = []
        for one in yaml.safe_load(path.read_text())["satisfies"]:
            control, _, enhancement = one["control_key"].lower().partition(" ")
            for part in one["narrative"]:
                words = tuple(plain(part["text"]))
                if len(words) < FEWEST_WORDS or words in seen:
                    continue
                seen.add(words)
                blocks.append(part["text"])
                grades.setdefault(control, {})[number] = ENHANCEMENT if enhancement else STATEMENT
                number += 1
        documents.append(blocks)
    known = [control for control in grades if statements.get(control)]
    return Graded(documents, [statements[control] for control in known], [grades[control] for control in known])


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

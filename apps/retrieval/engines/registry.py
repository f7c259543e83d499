"""The engines there are, the parameters each takes, and the one way to make one from plain values."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from apps.retrieval.engines.analysis import STEMMERS, STOP_WORDS, TOKENIZERS, Analysis
from apps.retrieval.engines.base import BadParameters, Engine, Parameters
from apps.retrieval.engines.bm25 import Bm25
from apps.retrieval.engines.tfidf import TfIdf


class Parameter(NamedTuple):
    """One setting of an engine: a number between `low` and `high`, one of `choices`, or yes and no."""

    name: str
    default: float | str | bool
    label: str
    low: float = 0.0
    high: float = 0.0
    choices: tuple[str, ...] = ()

    @property
    def short(self) -> str:
        """The label up to its explanation."""
        return self.label.partition(",")[0]


class Entry(NamedTuple):
    """An engine as people choose it."""

    title: str
    parameters: tuple[Parameter, ...]
    build: Callable[[Parameters], Engine]


_ANALYSIS = (
    Parameter("tokenizer", "words", "Tokens", choices=TOKENIZERS),
    Parameter("stop_words", "english", "Stop words", choices=tuple(STOP_WORDS)),
    Parameter("stemmer", "s", "Stemmer", choices=STEMMERS),
)


def _analysis(values: Parameters) -> Analysis:
    return Analysis(values["tokenizer"], values["stop_words"], values["stemmer"])


def _bm25(values: Parameters) -> Engine:
    return Bm25(analysis=_analysis(values), k1=values["k1"], b=values["b"])


def _tfidf(values: Parameters) -> Engine:
    return TfIdf(analysis=_analysis(values), sublinear=values["sublinear"])


ENGINES: dict[str, Entry] = {
    "bm25": Entry(
        "BM25",
        (
            Parameter("k1", 0.9, "k1, how soon a repeated word stops counting", 0.0, 10.0),
            Parameter("b", 0.4, "b, how much long blocks are held back", 0.0, 1.0),
            *_ANALYSIS,
        ),
        _bm25,
    ),
    "tfidf": Entry("TF-IDF cosine", (Parameter("sublinear", True, "Damp repeated words"), *_ANALYSIS), _tfidf),
}


def parameters_of(name: str) -> tuple[Parameter, ...]:
    """The parameters of an engine, in the order they are shown. Raises BadParameters for an unknown name."""
    if name not in ENGINES:
        raise BadParameters(f"There is no engine “{name}”. Choose one of {', '.join(ENGINES)}.")
    return ENGINES[name].parameters


def defaults(name: str) -> Parameters:
    """The engine's parameters as they are when nobody says otherwise."""
    return {parameter.name: parameter.default for parameter in parameters_of(name)}


def make(name: str, values: Mapping[str, Any] | None = None) -> Engine:
    """An engine with the given parameters, the rest at their defaults. Raises BadParameters."""
    known = {parameter.name: parameter for parameter in parameters_of(name)}
    given = dict(values or {})
    if unknown := sorted(set(given) - set(known)):
        raise BadParameters(f"{ENGINES[name].title} has no parameter “{unknown[0]}”.")
    settled = {key: _settle(parameter, given.get(key, parameter.default)) for key, parameter in known.items()}
    return ENGINES[name].build(settled)


def _settle(parameter: Parameter, value: Any) -> float | str | bool:
    if isinstance(parameter.default, bool):
        if not isinstance(value, bool):
            raise BadParameters(f"{parameter.name} is {value!r}; it is either true or false.")
        return value
    if parameter.choices:
        if value not in parameter.choices:
            raise BadParameters(f"{parameter.name} is {value!r}; choose one of {', '.join(parameter.choices)}.")
        return str(value)
    return _settle_number(parameter, value)


def _settle_number(parameter: Parameter, value: Any) -> float:
    between = f"it is a number from {parameter.low:g} to {parameter.high:g}."
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadParameters(f"{parameter.name} is {value!r}; {between}")
    if not (math.isfinite(value) and parameter.low <= value <= parameter.high):
        raise BadParameters(f"{parameter.name} is {value:g}; {between}")
    return float(value)

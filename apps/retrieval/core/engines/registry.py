"""All engines with their parameters, and fusion; `make` validates plain values and builds an engine."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.core.engines import encoder
from apps.retrieval.core.engines.base import BadParameters, Engine, Parameters, Ranked
from apps.retrieval.core.engines.building import STEMMERS, STOP_WORDS, TOKENIZERS, Analysis
from apps.retrieval.core.engines.dense import Dense, Lsa
from apps.retrieval.core.engines.encoder import MISSING, POOLING, is_installed
from apps.retrieval.core.engines.postings import Bm25, TfIdf

DEFAULT_K = 60.0
LARGEST_K = 10_000.0


@dataclass(frozen=True)
class Fusion:
    """`systems` are the digests of the fused systems, sorted. With a smaller `k` low ranks lose weight faster."""

    systems: tuple[str, ...]
    k: float = DEFAULT_K

    name: ClassVar[str] = "fusion"
    revision: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if len(set(self.systems)) < 2 or len(set(self.systems)) < len(self.systems):
            raise BadParameters("A fusion needs at least two different systems.")
        if not 0 <= self.k <= LARGEST_K:
            raise BadParameters(f"k must be a number from 0 to {LARGEST_K:g}, not {self.k:g}.")
        object.__setattr__(self, "systems", tuple(sorted(self.systems)))

    def identity(self) -> dict[str, Any]:
        return {"engine": self.name, "revision": self.revision, "systems": list(self.systems), "k": float(self.k)}

    def fuse(self, rankings: Sequence[NDArray[np.int32]], depth: int) -> Ranked:
        """The best `depth` blocks of the rankings: score descending, ties by position descending.

        `rankings` are positions, best first; each is read down to `depth`, and a block gets nothing from a ranking
        without it. Give them in the order of `systems`: the order of additions decides the last bits of a score.
        """
        tops = [ranking[:depth] for ranking in rankings]
        places = np.concatenate([np.zeros(0, np.int32), *tops])
        gains = np.concatenate([np.zeros(0), *(1.0 / (self.k + np.arange(1, len(top) + 1)) for top in tops)])
        positions, number = np.unique(places, return_inverse=True)
        scores = np.bincount(number, weights=gains, minlength=len(positions)).astype(np.float64, copy=False)
        order = np.argsort(-scores[::-1], kind="stable")[:depth]
        return positions[::-1][order].astype(np.int64), scores[::-1][order]


class Parameter(NamedTuple):
    """One setting of an engine: a number from `low` to `high` (an integer with `is_whole`), one of `choices`, a text of
    at most `longest` characters, or a boolean; the type of `default` decides.

    With `is_model` the value is the name of a model folder. A parameter that is not shown is filled in by `make`.
    """

    name: str
    default: float | str | bool
    label: str
    low: float = 0.0
    high: float = 0.0
    choices: tuple[str, ...] = ()
    is_whole: bool = False
    longest: int = 0
    is_model: bool = False
    is_shown: bool = True

    @property
    def short(self) -> str:
        """The label up to the comma."""
        return self.label.partition(",")[0]


class Entry(NamedTuple):
    """An engine in the list that users choose from."""

    title: str
    parameters: tuple[Parameter, ...]
    build: Callable[[Parameters, Path], Engine]

    @property
    def needs_model(self) -> bool:
        """Whether a model has to be chosen; all other engines have defaults for every parameter."""
        return any(parameter.is_model for parameter in self.parameters)


_ANALYSIS = (
    Parameter("tokenizer", "words_or_bigrams", "Tokens", choices=TOKENIZERS),
    Parameter("stop_words", "english", "Stop words", choices=tuple(STOP_WORDS)),
    Parameter("stemmer", "s", "Stemmer", choices=STEMMERS),
)

_SUBLINEAR = Parameter("sublinear", True, "Damp repeated words")


def _analysis(values: Parameters) -> Analysis:
    return Analysis(values["tokenizer"], values["stop_words"], values["stemmer"])


def _bm25(values: Parameters, _: Path) -> Engine:
    return Bm25(analysis=_analysis(values), k1=values["k1"], b=values["b"])


def _lsa(values: Parameters, _: Path) -> Engine:
    weights = TfIdf(analysis=_analysis(values), sublinear=values["sublinear"])
    return Lsa(weights, dimensions=values["dimensions"], seed=values["seed"])


def _tfidf(values: Parameters, _: Path) -> Engine:
    return TfIdf(analysis=_analysis(values), sublinear=values["sublinear"])


def _dense(values: Parameters, models: Path) -> Engine:
    """Without a digest, take that of the model's current files. With one, the files are not read before first use."""
    values = dict(values)
    name, sha256 = values.pop("model"), values.pop("sha256")
    if not encoder.is_plain(name):
        raise BadParameters(f"“{name}” is not the name of a model folder. {_choose_model(models)}")
    if not sha256:
        if not is_installed():
            raise BadParameters(MISSING)
        if not encoder.is_model(models / name):
            raise BadParameters(f"There is no model “{name}”. {_choose_model(models)}")
        sha256 = encoder.sha256_of(models / name)
    return Dense(models / name, sha256, **values)


def _choose_model(models: Path) -> str:
    names = ", ".join(encoder.model_names(models))
    return f"Choose one of {names}." if names else "Ask the operator to add one to the models folder."


ENGINES: dict[str, Entry] = {
    "bm25": Entry(
        "BM25",
        (
            Parameter("k1", 0.9, "k1, how soon a repeated word stops counting", 0.0, 10.0),
            Parameter("b", 0.4, "b, how much long passages are penalised", 0.0, 1.0),
            *_ANALYSIS,
        ),
        _bm25,
    ),
    "tfidf": Entry("TF-IDF cosine", (_SUBLINEAR, *_ANALYSIS), _tfidf),
    "lsa": Entry(
        "LSA",
        (
            Parameter("dimensions", 128, "Dimensions, how many themes words are folded into", 2, 1_000, is_whole=True),
            Parameter("seed", 0, "Seed", 0, 2**31 - 1, is_whole=True),
            _SUBLINEAR,
            *_ANALYSIS,
        ),
        _lsa,
    ),
    "dense": Entry(
        "Dense embeddings",
        (
            Parameter("model", "", "Model", longest=200, is_model=True),
            Parameter("sha256", "", "Digest of its files", longest=64, is_shown=False),
            Parameter("pooling", "mean", "Vector of a text, from those of its tokens", choices=POOLING),
            Parameter("query_prefix", "", "Text added before every query", longest=200),
            Parameter("passage_prefix", "", "Text added before every passage", longest=200),
            Parameter("max_tokens", 256, "Tokens read; the rest of a text is ignored", 8, 8_192, is_whole=True),
        ),
        _dense,
    ),
}


def parameters_of(name: str) -> tuple[Parameter, ...]:
    """The parameters of an engine, in the order they are shown. Raises BadParameters for an unknown name."""
    if name not in ENGINES:
        raise BadParameters(f"There is no engine “{name}”. Choose one of {', '.join(ENGINES)}.")
    return ENGINES[name].parameters


def make(name: str, values: Mapping[str, Any] | None = None, models: Path = Path("models")) -> Engine:
    """Build an engine; parameters that are not given have their defaults. Raises BadParameters.

    `models` is the folder of the model folders.
    """
    known = {parameter.name: parameter for parameter in parameters_of(name)}
    given = dict(values or {})
    if unknown := sorted(set(given) - set(known)):
        raise BadParameters(f"{ENGINES[name].title} has no parameter “{unknown[0]}”.")
    valid = {key: _validated(parameter, given.get(key, parameter.default)) for key, parameter in known.items()}
    return ENGINES[name].build(valid, models)


def _validated(parameter: Parameter, value: Any) -> float | str | bool:
    if isinstance(parameter.default, bool):
        if not isinstance(value, bool):
            raise BadParameters(f"{parameter.name} must be true or false, not {value!r}.")
        return value
    if parameter.choices:
        if value not in parameter.choices:
            raise BadParameters(f"{parameter.name} must be one of {', '.join(parameter.choices)}, not {value!r}.")
        return str(value)
    if isinstance(parameter.default, str):
        if not isinstance(value, str) or len(value) > parameter.longest:
            raise BadParameters(f"{parameter.name} must be a text of at most {parameter.longest} characters.")
        return value
    return _validated_number(parameter, value)


def _validated_number(parameter: Parameter, value: Any) -> float:
    kind = "a whole number" if parameter.is_whole else "a number"
    expected = f"{parameter.name} must be {kind} from {parameter.low:.12g} to {parameter.high:.12g}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadParameters(f"{expected}, not {value!r}.")
    if not (math.isfinite(value) and parameter.low <= value <= parameter.high):
        raise BadParameters(f"{expected}, not {value:g}.")
    if parameter.is_whole:
        if value != int(value):
            raise BadParameters(f"{expected}, not {value:g}.")
        return int(value)
    return float(value)

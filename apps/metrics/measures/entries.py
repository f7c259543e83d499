"""What a measure is: its entry in the registry, and the measure as requested."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from apps.metrics.columns import TIMES, Floats
from apps.metrics.measures.notation import Map, Value, written

if TYPE_CHECKING:
    from apps.metrics.measures.measure_input import Pass

GRADES = "grades"
FACETS = "facets"
EXPECTED = "expected"
POOLED = "pooled"
WORDS = "words"
UNANSWERABLE = "unanswerable"
TIME, AUDIENCE = "time", "audience"
GRADES_ALONE = frozenset({GRADES})
YES_OR_NO = frozenset(
    {"Success", "FailureRate", "Sufficient", "AnyLeak", "AbstentionRate", "FalseAnswerRate", "FalseAbstentionRate"}
)
YES_OR_NO_AT_1 = frozenset({"P", "RR"})


class Measure(NamedTuple):
    """A parsed measure. Of its parameters (see `parameters`), only those that its entry takes have an effect."""

    name: str
    cutoff: int | None = None
    rel: int = 1
    dcg: str = "log2"
    gains: Map = ()
    judged_only: bool = False
    capped: bool = False
    p: float = 0.8
    max_rel: int = 4
    alpha: float = 0.5
    beta: float = 1.0
    by: str = ""
    rate: float | Map = 0.0
    role: str = ""
    half_life: float = 0.0

    def __str__(self) -> str:
        parameters: dict[str, Value] = {}
        replaced = {key for key, other in self.entry.instead.items() if getattr(self, other)}
        always = (self.entry.required | self.entry.stated) - replaced
        for key in self.entry.takes:
            value = getattr(self, key)
            if key in always or value != self._field_defaults[key]:
                parameters[key] = value
        return written(self.name, parameters, self.cutoff)

    @property
    def entry(self) -> Entry:
        return REGISTRY[self.name]

    @property
    def reads(self) -> str:
        """The attribute of blocks that it reads; "" for none."""
        if TIMES in self.entry.needs:
            return TIME
        return AUDIENCE if self.role else self.by

    @property
    def is_yes_or_no(self) -> bool:
        """Whether it is 0 or 1 for each query: its mean is then a proportion."""
        return self.name in YES_OR_NO or (self.name in YES_OR_NO_AT_1 and self.cutoff == 1)


@dataclass(frozen=True)
class Entry:
    """A measure's entry in the registry.

    `cutoff` is "needed", "optional" or "none". `takes` names its parameters, `required` those without a default,
    `instead` what may be given in place of one of these, `stated` those that are always written out. `needs` is its
    input: grades, marks of what was pooled, facets, words of returned passages, blocks, times, queries that nothing
    answers. A measure is `is_about_judging` when it describes the judgements, and `is_lower_better` when low values are
    better.
    """

    name: str
    words: str
    source: str
    values: Callable[[Pass, Measure], Floats]
    cutoff: str
    takes: frozenset[str] = frozenset({"rel"})
    required: frozenset[str] = frozenset()
    instead: Mapping[str, str] = field(default_factory=dict)
    stated: frozenset[str] = frozenset()
    needs: frozenset[str] = GRADES_ALONE
    aliases: tuple[str, ...] = ()
    is_about_judging: bool = False
    is_lower_better: bool = False
    low: float = 0.0
    high: float = 1.0
    sample: Mapping[str, Any] = field(default_factory=dict)

    @property
    def example(self) -> Measure:
        """A measure of this kind with all required parameters."""
        return Measure(self.name, None if self.cutoff == "none" else 10, **self.sample)


# Filled by `registry`, from the families.
REGISTRY: dict[str, Entry] = {}

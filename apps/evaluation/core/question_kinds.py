"""The kinds of a triple's question: the strata that scores by triples are broken down by."""

from collections.abc import Collection, Mapping
from typing import Any

from apps.triples.core.tokens import figures

KIND, DOMAIN, DIFFICULTY, SOURCE = "kind", "domain", "difficulty", "source"
FIELDS = {KIND: "Kind", DOMAIN: "Domain", DIFFICULTY: "Difficulty", SOURCE: "Source"}
NUMERIC, COMPOUND, DISPUTED, MACHINE = "Numeric", "Compound", "Once disputed", "Written by machine"
NEVER_DISPUTED = ("consensus", "elsewhere")
POLICY = "policy:"


def kinds_of(content: Mapping[str, Any], source: str = "", flags: Collection[str] = ()) -> list[tuple[str, str]]:
    """Field and value of every kind that a released triple is of, by its content and the categories of its flags.

    A question can be of several kinds.
    """
    kinds = [
        (KIND, name)
        for name in kinds_of_answer(
            content["expected_answer"],
            needs_all=content["match"] == "all",
            resolution=content["resolution"],
            is_machine_written=content["is_machine_written"],
            flags=flags,
        )
    ]
    named = ((DOMAIN, content["domain"]), (DIFFICULTY, content["difficulty"]), (SOURCE, source))
    return kinds + [(field, value) for field, value in named if value]


def kinds_of_answer(
    answer: str, *, needs_all: bool, resolution: str, is_machine_written: bool, flags: Collection[str] = ()
) -> list[str]:
    """The kinds of a question that its triple tells of.

    Numeric: its answer has a figure with a digit. Compound: it needs all its blocks. Once disputed: it was not accepted
    at once; also by the categories of its `flags`, and by that of the policy that ended the dispute.
    """
    kinds = []
    if any(letter.isdigit() for figure in figures(answer) for letter in figure.plain):
        kinds.append(NUMERIC)
    if needs_all:
        kinds.append(COMPOUND)
    if resolution and resolution not in NEVER_DISPUTED:
        kinds.append(DISPUTED)
        policy = [resolution.removeprefix(POLICY)] if resolution.startswith(POLICY) else []
        kinds += [f"{DISPUTED}: {category.replace('_', ' ')}" for category in sorted({*flags, *policy})]
    if is_machine_written:
        kinds.append(MACHINE)
    return kinds

"""The kinds of a triple's question: the strata that scores by triples are broken down by."""

from collections.abc import Mapping
from typing import Any

from apps.triples.core.tokens import figures

KIND, DOMAIN, DIFFICULTY, SOURCE = "kind", "domain", "difficulty", "source"
FIELDS = {KIND: "Kind", DOMAIN: "Domain", DIFFICULTY: "Difficulty", SOURCE: "Source"}
NUMERIC, COMPOUND, DISPUTED, MACHINE = "Numeric", "Compound", "Once disputed", "Written by machine"
CONSENSUS = "consensus"
POLICY = "policy:"


def kinds_of(content: Mapping[str, Any], source: str = "") -> list[tuple[str, str]]:
    """Field and value of every kind that a released triple is of, by its content; a question can be of several.

    Numeric: its answer has a figure with a digit. Compound: it needs all its blocks. Once disputed: it was not accepted
    at once; where a policy ended the dispute, also by the category of the flag.
    """
    kinds = []
    if any(letter.isdigit() for figure in figures(content["expected_answer"]) for letter in figure.plain):
        kinds.append((KIND, NUMERIC))
    if content["match"] == "all":
        kinds.append((KIND, COMPOUND))
    resolution = content["resolution"]
    if resolution and resolution != CONSENSUS:
        kinds.append((KIND, DISPUTED))
        if resolution.startswith(POLICY):
            category = resolution.removeprefix(POLICY).replace("_", " ")
            kinds.append((KIND, f"{DISPUTED}: {category}"))
    if content["is_machine_written"]:
        kinds.append((KIND, MACHINE))
    named = ((DOMAIN, content["domain"]), (DIFFICULTY, content["difficulty"]), (SOURCE, source))
    return kinds + [(field, value) for field, value in named if value]

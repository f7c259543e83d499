"""The data card of a public release: a licence and twelve sections, drafted from known facts, then edited by people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from apps.common.text.wording import plural
from apps.metrics.agreement.results import informative
from apps.metrics.estimate import Estimate
from apps.review.core.elsewhere import public_sentences


class Licence(NamedTuple):
    """`key` is the SPDX identifier."""

    key: str
    name: str
    url: str


LICENCES = (
    Licence(
        "CC-BY-4.0", "Creative Commons Attribution 4.0 International", "https://creativecommons.org/licenses/by/4.0/"
    ),
    Licence(
        "CC-BY-SA-4.0",
        "Creative Commons Attribution-ShareAlike 4.0 International",
        "https://creativecommons.org/licenses/by-sa/4.0/",
    ),
    Licence(
        "CC-BY-NC-4.0",
        "Creative Commons Attribution-NonCommercial 4.0 International",
        "https://creativecommons.org/licenses/by-nc/4.0/",
    ),
    Licence(
        "CC0-1.0",
        "Creative Commons Zero 1.0 Universal (public domain)",
        "https://creativecommons.org/publicdomain/zero/1.0/",
    ),
    Licence("ODC-By-1.0", "Open Data Commons Attribution License 1.0", "https://opendatacommons.org/licenses/by/1-0/"),
)
BY_KEY = {licence.key: licence for licence in LICENCES}


def notice(title: str, holder: str, key: str) -> str:
    licence = BY_KEY[key]
    of = f" by {holder}" if holder else ""
    return (
        f"{title}{of} is licensed under\n{licence.name} ({licence.key}).\n\n"
        f"The terms are at {licence.url}\n\nProvided as is, without warranty of any kind.\n"
    )


class CardSection(NamedTuple):
    key: str
    title: str


SECTIONS = (
    CardSection("about", "What this is"),
    CardSection("use", "What it is for"),
    CardSection("contents", "What it contains"),
    CardSection("questions", "Where the questions come from"),
    CardSection("passages", "The passages"),
    CardSection("checking", "How it was checked"),
    CardSection("grades", "What the grades mean"),
    CardSection("agreement", "Agreement"),
    CardSection("splits", "Splits"),
    CardSection("people", "People and privacy"),
    CardSection("gaps", "Known gaps"),
    CardSection("terms", "Licence and citation"),
)


def draft(facts: Mapping[str, Any]) -> dict[str, str]:
    """A text for each section from the facts of the release, for people to edit."""
    counts = facts["counts"]
    left_out = facts["left_out"]
    return {
        "about": f"{facts['title']} {facts['version']} is a gold set for retrieval: questions, {_truth(counts)}.",
        "use": "For comparing retrieval systems on the same questions and passages. Not for training what is then"
        " measured on it.",
        "contents": f"{plural(counts['queries'], 'query', 'queries')}, {plural(counts['pairs'], 'graded pair')},"
        f" {plural(counts['triples'], 'question with its answer', 'questions with their answers')},"
        f" {plural(counts['passages'], 'passage')}. The folder schema describes every field.",
        "questions": _sources(facts["sources"]),
        "passages": f"{plural(counts['passages'], 'passage')} from {plural(facts['documents'], 'document')}.",
        "checking": _checking(facts.get("elsewhere")),
        "grades": _scale(facts["scale"]) if counts["pairs"] else "No grade was published.",
        "agreement": _agreement(facts["agreement"]),
        "splits": _splits(facts["splits"]),
        "people": "No person is named. Authors and reviewers have pseudonyms that mean the same person throughout this"
        " release. Dates are given to the month. Notes are left out.",
        "gaps": f"{left_out:,} items of the version were not published: their source, their passage or a name in them"
        " does not allow it. A pair without a grade was not judged, which is not the same as not relevant.",
        "terms": f"{facts['licence']}. Cite it as CITATION.cff says, with the version.",
    }


def card_bytes(title: str, texts: Mapping[str, str]) -> bytes:
    parts = [f"# {title}: data card"]
    for number, section in enumerate(SECTIONS, 1):
        parts.append(f"## {number}. {section.title}\n\n{texts.get(section.key, '').strip()}")
    return ("\n\n".join(parts) + "\n").encode()


def filled(texts: Mapping[str, str]) -> int:
    """How many sections have a text."""
    return sum(bool(texts.get(section.key, "").strip()) for section in SECTIONS)


def _checking(elsewhere: Mapping[str, Any] | None) -> str:
    """`elsewhere` tells of those that nobody here has reviewed, None when there are none."""
    which = "Each other question" if elsewhere else "Each question"
    here = (
        f"{which} with an answer was confirmed by two people who did not write it and did not see each other’s verdict."
        " Where they differed it was resolved, as its resolution says."
    )
    return f"{public_sentences(elsewhere)} {here}" if elsewhere else here


def _truth(counts: Mapping[str, int]) -> str:
    """What says which passages are right."""
    if not counts["triples"]:
        return "passages, and grades by people of how well a passage answers"
    if not counts["pairs"]:
        return "their answers, and the passages that give them"
    return "the passages that answer them, and grades by people"


def _sources(sources: Mapping[str, int]) -> str:
    if not sources:
        return "No query was published; the questions with answers were written by the team."
    return "Queries by kind of source: " + ", ".join(f"{kind} {number:,}" for kind, number in sources.items()) + "."


def _scale(scale: list[Mapping[str, Any]]) -> str:
    return "\n".join(f"- {grade['grade']}: {grade['name']}".rstrip(": ") for grade in scale)


def _agreement(agreement: Mapping[str, Mapping[str, Any]]) -> str:
    lines = []
    for about, figure in agreement.items():
        if figure.get("value") is None:
            lines.append(f"- {about}: not defined. {figure.get('reason', '')}".rstrip())
        else:
            estimate = informative(Estimate.read(figure))
            ends = estimate.interval
            bounds = f"95 % interval {ends[0]:.2f} to {ends[1]:.2f}" if ends else estimate.reason
            lines.append(f"- {about}: {figure['name']} {figure['value']:.2f}, {bounds}, n {figure['n']:,}")
    note = "Measured on the whole version, of which this release is a part."
    return "\n".join([*lines, "", note]) if lines else "No agreement was measured."


def _splits(splits: list[str]) -> str:
    if "test" in splits:
        return "dev, for choosing, and test, for the last word. Both are public, so that anybody can tune on either."
    return "dev only. The test split is not published, so that it stays a fair test."

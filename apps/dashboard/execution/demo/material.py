"""The content of the demo, read from the data files in this folder. Plain values, no database."""

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

DATA = Path(__file__).parent / "data"
HANDBOOKS = ("security.yaml", "platform.yaml")


class HandbookSection(NamedTuple):
    """One block of a handbook, as imported."""

    block_id: str
    document_id: str
    document_title: str
    section: str
    title: str
    page_start: int
    page_end: int
    text: str


@cache
def read(name: str) -> Any:
    return yaml.load((DATA / name).read_text(encoding="utf-8"), Loader=_loader())


def _loader() -> Any:
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def first_version() -> list[HandbookSection]:
    """Every block of both handbooks, in reading order."""
    sections = []
    for name in HANDBOOKS:
        handbook = read(name)
        for chapter in handbook["chapters"]:
            for block in chapter["blocks"]:
                sections.append(_section(block, handbook["document"], handbook["title"], chapter["heading"]))
    return sections


def second_version() -> list[HandbookSection]:
    """The handbooks half a year later: some blocks changed, some removed, some new."""
    news = read("second-version.yaml")
    titles = {section.document_id: section.document_title for section in first_version()}
    remaining = [section for section in first_version() if section.block_id not in news["gone"]]
    changed = [
        section._replace(text=news["changed"].get(section.block_id, section.text).strip()) for section in remaining
    ]
    added = [_section(block, block["document"], titles[block["document"]], block["section"]) for block in news["new"]]
    return changed + added


def _section(block: dict[str, Any], document_id: str, document_title: str, heading: str) -> HandbookSection:
    return HandbookSection(
        block_id=block["id"],
        document_id=document_id,
        document_title=document_title,
        section=heading,
        title=block["title"],
        page_start=block["pages"][0],
        page_end=block["pages"][1],
        text=block["text"].strip(),
    )


def sources() -> list[dict[str, Any]]:
    return read("queries.yaml")["sources"]


def queries() -> list[dict[str, Any]]:
    return read("queries.yaml")["queries"]


def triples() -> list[dict[str, Any]]:
    return read("triples.yaml")["triples"]


def guideline() -> dict[str, Any]:
    return read("guideline.yaml")


def careful_grade(query_id: str, block_id: str) -> int:
    """The careful reader's grade on the first version; unlisted pairs are not relevant."""
    grades = {query["id"]: query["grades"] for query in queries()}
    return grades[query_id].get(block_id, 0)


def careful_view(query_id: str, text: str, block_id: str) -> int:
    """As `careful_grade`; for a query that is the question of a Q&A, the Q&A's passages are the answer."""
    views = _asked_for()
    return views[text].get(block_id, 0) if text in views else careful_grade(query_id, block_id)


@cache
def _asked_for() -> dict[str, dict[str, int]]:
    """By question of a Q&A without a query, its passages at the highest grade."""
    rows = [entry for entry in triples() if "query" not in entry]
    return {entry["question"]: dict.fromkeys([entry["block"], *entry.get("also", {})], 3) for entry in rows}

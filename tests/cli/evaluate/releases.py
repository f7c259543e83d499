"""A small release on disk: four texts, three questions, and the grades of two splits."""

from pathlib import Path
from typing import Any

from apps.goldsets.formats.content import FrozenBlock, FrozenQuery, GradeRow
from apps.goldsets.formats.folder import write_folder
from tests.goldsets.content import ListContent, snapshot_facts
from tests.remote_server import TEXTS

FACTS: dict[str, Any] = {
    "gold_set": {"slug": "doors", "name": "Doors"},
    "version": "v2",
    "digest": "d" * 64,
}
QUESTIONS = {
    "Q1": ("red key", "dev", "keys"),
    "Q2": ("green wall", "dev", "walls"),
    "Q3": ("the window", "dev", "walls"),
    "Q9": ("door", "test", "keys"),
}
GRADES = [
    ("Q1", "a", 3),
    ("Q1", "d", 1),
    ("Q2", "b", 1),
    ("Q2", "c", 2),
    ("Q3", "c", 1),
    ("Q3", "d", 3),
    ("Q9", "b", 2),
]
CONTENT = ListContent(
    query_rows=[FrozenQuery(key, text, domain=domain, split=split) for key, (text, split, domain) in QUESTIONS.items()],
    block_rows=[FrozenBlock(key, "house", key.upper(), text) for key, text in TEXTS.items()],
    grade_rows=[
        GradeRow(query, block, grade, QUESTIONS[query][1], query_text=QUESTIONS[query][0])
        for query, block, grade in GRADES
    ],
)


def write_release(folder: Path, *forms: str, content: ListContent = CONTENT) -> Path:
    folder.mkdir()
    write_folder(content, folder, formats=forms or ["jsonl"], facts=FACTS | {"snapshot": snapshot_facts(content)})
    return folder


def many_questions(count: int, *, on_walls: int = 0) -> ListContent:
    """So many questions of one split, each with the same answer; the first ones are on walls, the others on keys."""
    ids = [f"Q{number:03}" for number in range(count)]
    return ListContent(
        query_rows=[
            FrozenQuery(key, key, split="dev", domain="walls" if number < on_walls else "keys")
            for number, key in enumerate(ids)
        ],
        block_rows=[FrozenBlock("a", "house", "A", "a")],
        grade_rows=[GradeRow(key, "a", 1, "dev", query_text=key) for key in ids],
    )

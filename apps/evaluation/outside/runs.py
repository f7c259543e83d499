"""The answers of a system as a TREC run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from apps.common.errors import InputError
from apps.evaluation.outside.answers import Answer

SPACE = re.compile(r"\s")


def write_run(path: Path, tag: str, answers: Sequence[Answer]) -> None:
    """Write `query Q0 block rank score tag` lines, best first. Raises InputError for an id that holds white space."""
    lines = []
    for answer in answers:
        for rank, (block, score) in enumerate(answer.hits, 1):
            for field, value in (("query", answer.query_id), ("block", block)):
                if SPACE.search(value) or not value:
                    raise InputError(str(path), None, field, value, f"'{value}' cannot stand in a TREC run.")
            lines.append(f"{answer.query_id} Q0 {block} {rank} {score!r} {SPACE.sub('-', tag)}\n")
    path.write_text("".join(lines), encoding="utf-8")

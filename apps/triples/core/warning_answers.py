"""An author's answers to warnings: stored with the draft by the warning's key, fixed with it when submitted."""

from collections.abc import Iterable, Mapping
from typing import Any

from apps.triples.core.checks import WARN, Check

FIELD = "why-"
LONGEST = 500
MOST_ANSWERS = 40

Answers = dict[str, str]


def answers_in(data: Mapping[str, Any]) -> Answers:
    """The answers among a form's fields, by key; an empty one deletes an earlier one."""
    named = [name for name in data if name.startswith(FIELD)][:MOST_ANSWERS]
    return {name.removeprefix(FIELD): _clean(str(data.get(name) or "")) for name in named}


def _clean(text: str) -> str:
    return text.replace("\x00", "").strip()[:LONGEST]


def stored_answers(warnings: Iterable[Mapping[str, str]]) -> Answers:
    """The answers stored in a revision, draft or submitted."""
    return {one["key"]: one["answer"] for one in warnings if one.get("key") and one.get("answer")}


def as_drafted(answers: Mapping[str, str]) -> list[dict[str, str]]:
    """Answers as an unsubmitted revision stores them, including those to warnings that are gone."""
    texts = {key: text for key, answer in answers.items() if (text := _clean(answer))}
    return [{"key": key, "answer": answer} for key, answer in list(texts.items())[-MOST_ANSWERS:]]


def as_submitted(checks: Iterable[Check]) -> list[dict[str, str]]:
    """Every warning with the author's answer, as a submitted revision stores them."""
    return [
        {
            "key": check.key,
            "code": check.code,
            "sentence": check.sentence,
            "detail": check.detail,
            "where": check.where,
            "answer": check.answer,
        }
        for check in checks
        if check.level == WARN
    ]

"""The results of all checks, with the settings of leads and the answers of the author."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from apps.triples.core.checks.check import PASS, STOP, WARN, Check


def settled(checks: Iterable[Check], *, blocking: Collection[str], answers: Mapping[str, str]) -> list[Check]:
    """The checks with settings and answers applied: warnings that a lead made blocking stop, others get their answer.

    Stops come first, passes last.
    """
    rank = {STOP: 0, WARN: 1, PASS: 2}
    return sorted((_settle(check, blocking, answers) for check in checks), key=lambda check: rank[check.level])


def _settle(check: Check, blocking: Collection[str], answers: Mapping[str, str]) -> Check:
    if check.level != WARN:
        return check
    if check.code in blocking:
        return check._replace(level=STOP)
    return check._replace(answer=check.answer_in(answers))


def stops(checks: Iterable[Check]) -> list[Check]:
    """Those that block submitting whatever the author answers, in their order."""
    return [check for check in checks if check.level == STOP]


def stop_sentence(checks: Sequence[Check]) -> str | None:
    """Why these checks block submitting, in one sentence, or None: stops, or a warning without an answer."""
    stopping = stops(checks)
    if stopping:
        first = _inside(stopping[0].sentence)
        if len(stopping) == 1:
            return f"One check blocks submission: {first}."
        return f"{len(stopping)} checks block submission; the first: {first}."
    unanswered = [check for check in checks if check.needs_reason]
    if not unanswered:
        return None
    first = _inside(unanswered[0].sentence)
    if len(unanswered) == 1:
        return f"One warning needs your reason why it is all right: {first}."
    return f"{len(unanswered)} warnings need your reason why they are all right; the first: {first}."


def _inside(sentence: str) -> str:
    """A sentence as part of another one."""
    return sentence[0].lower() + sentence[1:].rstrip(".")

"""Payloads of judgements, second grades, adjudications and votes for the hash chain."""

from typing import Any

from apps.audit.selectors.events import sealed_kind
from apps.common.digests import utc_text
from apps.judging.enums import DecidedBy
from apps.judging.models import Adjudication, Judgement, SecondGrade, SecondLook, UnanswerableVote


def register() -> None:
    """Register them for sealing: they are append-only, and their own record."""
    sealed_kind("judgement", Judgement, project_path="round__project", payload=judgement_payload)
    sealed_kind("second_look", SecondLook, project_path="round__project", payload=second_look_payload)
    sealed_kind("second_grade", SecondGrade, project_path="look__round__project", payload=second_grade_payload)
    sealed_kind("adjudication", Adjudication, project_path="round__project", payload=adjudication_payload)
    sealed_kind("unanswerable_vote", UnanswerableVote, project_path="query__project", payload=vote_payload)


def judgement_payload(judgement: Judgement) -> dict[str, Any]:
    """All fields of a judgement, the note included, since a note is the judge's own text.

    Subtopics are left out where nobody was asked for them, as before anybody could be.
    """
    return _facets(judgement) | {
        "round": judgement.round_id,
        "seat": judgement.seat_id,
        "entry": judgement.entry_id,
        "annotator": judgement.annotator_id,
        "pass": judgement.pass_number,
        "grade": judgement.grade,
        "cant_judge": judgement.cant_judge,
        "note": judgement.note,
        "spans": judgement.spans,
        "guideline": judgement.guideline_id,
        "active_ms": judgement.active_ms,
        "away_ms": judgement.away_ms,
        "key": judgement.idempotency_key,
        "supersedes": judgement.supersedes_id,
        "given_at": utc_text(judgement.given_at),
    }


def second_look_payload(look: SecondLook) -> dict[str, Any]:
    return {
        "round": look.round_id,
        "entry": look.entry_id,
        "judge": look.judge_id,
        "looked_at": utc_text(look.looked_at),
    }


def second_grade_payload(given: SecondGrade) -> dict[str, Any]:
    return {
        "look": given.look_id,
        "grade": given.grade,
        "cant_judge": given.cant_judge,
        "reason": given.reason,
        "is_last": given.is_last,
        "key": given.idempotency_key,
        "given_at": utc_text(given.given_at),
    }


def _facets(row: Judgement | Adjudication) -> dict[str, Any]:
    return {} if row.facets is None else {"facets": row.facets}


def adjudication_payload(decision: Adjudication) -> dict[str, Any]:
    """Who decided is left out where a lead did who had no part in it, as before others could; so are subtopics."""
    by = {} if decision.decided_by == DecidedBy.LEAD else {"decided_by": decision.decided_by}
    return (
        by
        | _facets(decision)
        | {
            "round": decision.round_id,
            "entry": decision.entry_id,
            "adjudicator": decision.adjudicator_id,
            "grade": decision.grade,
            "reason": decision.reason,
            "error_type": decision.error_type,
            "supersedes": decision.supersedes_id,
            "given_at": utc_text(decision.given_at),
        }
    )


def vote_payload(vote: UnanswerableVote) -> dict[str, Any]:
    return {
        "query": vote.query_id,
        "snapshot": vote.snapshot_id,
        "attempt": vote.attempt,
        "number": vote.number,
        "person": vote.person_id,
        "is_nothing": vote.is_nothing,
        "passage": vote.passage_id,
        "reason": vote.reason,
        "basis": vote.basis,
        "given_at": utc_text(vote.given_at),
    }

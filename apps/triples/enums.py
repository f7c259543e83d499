"""States and steps of a triple."""

from django.db import models


class State(models.TextChoices):
    DRAFT = "draft", "Draft"
    IN_REVIEW = "in_review", "In review"
    ACCEPTED = "accepted", "Accepted"
    DISPUTED = "disputed", "Disputed"
    DROPPED = "dropped", "Dropped"
    SPLIT = "split", "Split"
    RETIRED = "retired", "Retired"
    WITHDRAWN = "withdrawn", "Withdrawn"


class Step(models.TextChoices):
    ADOPT = "adopt", "Adopt"
    SUBMIT = "submit", "Submit"
    TAKE = "take", "Take as accepted: reviewed elsewhere"
    SAMPLE = "sample", "Review blind: drawn at random"
    AGREE = "agree", "Both confirm"
    DISAGREE = "disagree", "One confirms, one flags"
    REJECT = "reject", "Both flag"
    REVISE = "revise", "Revise"
    WITHDRAW_FLAG = "withdraw_flag", "Withdraw the flag"
    SPLIT = "split", "Split"
    DROP = "drop", "Drop"
    ADJUDICATE_ACCEPT = "adjudicate_accept", "Decide: accept"
    ADJUDICATE_RETURN = "adjudicate_return", "Decide: review again"
    ADJUDICATE_DROP = "adjudicate_drop", "Decide: drop"
    MARK_STALE = "mark_stale", "Passage changed in a newer snapshot"
    ADD_BLOCK = "add_block", "Another passage is confirmed"
    RE_PIN = "re_pin", "Pin to the new text"
    REWORD = "reword", "Reword an unclear question"
    RETIRE = "retire", "Retire"
    REVOKE = "revoke", "Permission revoked"
    WITHDRAW = "withdraw", "Withdraw"
    REOPEN = "reopen", "Reopen as a new draft"
    UNDO = "undo", "Undo its import"
    UNDO_SUBMIT = "undo_submit", "Undo the submission"
    UNDO_RE_PIN = "undo_re_pin", "Undo the new pin"
    UNDO_RETIRE = "undo_retire", "Undo the retirement"


UNDONE_IN_BULK = frozenset({Step.UNDO_SUBMIT, Step.UNDO_RE_PIN, Step.UNDO_RETIRE})
"""Steps back that only who did something to many Q&As at once may take, while nobody has acted since."""


class RetireReason(models.TextChoices):
    BLOCK_GONE = "block_gone", "Passage gone"
    PERMISSION_REVOKED = "permission_revoked", "Permission revoked"
    OUT_OF_SCOPE = "out_of_scope", "Out of scope"


ELSEWHERE = "elsewhere"
"""The resolution of a Q&A that was reviewed elsewhere and taken as accepted by a lead: nobody gave a verdict here."""
LIVE = (State.DRAFT, State.IN_REVIEW, State.DISPUTED, State.ACCEPTED)
"""Somebody may still work on it, or it is in use."""
ENDED = frozenset({State.DROPPED, State.SPLIT, State.RETIRED, State.WITHDRAWN})

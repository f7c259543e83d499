"""Everything a person can do in a review, one subject a file."""

from apps.review.actions.disputes import (
    Claim,
    Decision,
    DisputeRefused,
    adjudicate,
    drop_triple,
    post_message,
    split_triple,
    withdraw_flag,
)
from apps.review.actions.rounds import SubmitRefused
from apps.review.actions.submitting import begin_revision, re_pin, revise, submit_triple
from apps.review.actions.verdicts import VerdictRefused, give_verdict

__all__ = [
    "Claim",
    "Decision",
    "DisputeRefused",
    "SubmitRefused",
    "VerdictRefused",
    "adjudicate",
    "begin_revision",
    "drop_triple",
    "give_verdict",
    "post_message",
    "re_pin",
    "revise",
    "split_triple",
    "submit_triple",
    "withdraw_flag",
]

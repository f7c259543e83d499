"""All actions of reviewing, one subject a file."""

from apps.review.actions.candidate_blocks import (
    CandidateRefused,
    answer_candidate,
    decide_candidate,
    note_miss,
    propose_block,
    withdraw_candidate,
    withdraw_note,
)
from apps.review.actions.disputes import (
    Claim,
    DisputeRefused,
    adjudicate,
    drop_triple,
    post_message,
    split_triple,
    withdraw_flag,
)
from apps.review.actions.reminding import ReminderRefused, remind_reviewers
from apps.review.actions.rounds import SubmitRefused
from apps.review.actions.seating import (
    Reseated,
    SeatRefused,
    free_abandoned_seats,
    give_back_seat,
    pull_seat,
    reseat,
    reseat_many,
)
from apps.review.actions.submitting import begin_revision, re_pin, revise, reword, submit_triple
from apps.review.actions.verdicts import VerdictRefused, give_verdict

__all__ = [
    "CandidateRefused",
    "Claim",
    "DisputeRefused",
    "ReminderRefused",
    "Reseated",
    "SeatRefused",
    "SubmitRefused",
    "VerdictRefused",
    "adjudicate",
    "answer_candidate",
    "begin_revision",
    "decide_candidate",
    "drop_triple",
    "free_abandoned_seats",
    "give_back_seat",
    "give_verdict",
    "note_miss",
    "post_message",
    "propose_block",
    "pull_seat",
    "re_pin",
    "remind_reviewers",
    "reseat",
    "reseat_many",
    "revise",
    "reword",
    "split_triple",
    "submit_triple",
    "withdraw_candidate",
    "withdraw_flag",
    "withdraw_note",
]

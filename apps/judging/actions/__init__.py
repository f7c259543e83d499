"""All actions of judging; other apps import from here."""

from apps.judging.actions.adjudication import AdjudicationRefused, adjudicate
from apps.judging.actions.guidelines import GuidelineRefused, publish_guideline
from apps.judging.actions.imports import ImportedRound, ImportRefused, import_judgements
from apps.judging.actions.judgements import JudgementRefused, give_judgement
from apps.judging.actions.keys import KeysRefused, choose_keys, reset_keys
from apps.judging.actions.pilots import PilotRefused, open_after_pilot
from apps.judging.actions.plain_rounds import give_plainly
from apps.judging.actions.query_seats import claim_query_seats
from apps.judging.actions.rounds import RoundRefused, close_round, open_round
from apps.judging.actions.seats import SeatsRefused, claim_seats, lease_seats, release_seats

__all__ = [
    "AdjudicationRefused",
    "GuidelineRefused",
    "ImportRefused",
    "ImportedRound",
    "JudgementRefused",
    "KeysRefused",
    "PilotRefused",
    "RoundRefused",
    "SeatsRefused",
    "adjudicate",
    "choose_keys",
    "claim_query_seats",
    "claim_seats",
    "close_round",
    "give_judgement",
    "give_plainly",
    "import_judgements",
    "lease_seats",
    "open_after_pilot",
    "open_round",
    "publish_guideline",
    "release_seats",
    "reset_keys",
]

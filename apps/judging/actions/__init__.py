"""Everything that people do in judging."""

from apps.judging.actions.adjudication import AdjudicationRefused, adjudicate
from apps.judging.actions.guidelines import GuidelineRefused, publish_guideline
from apps.judging.actions.imports import Imported, ImportRefused, import_judgements
from apps.judging.actions.judgements import Answer, JudgementRefused, give_judgement
from apps.judging.actions.rounds import RoundRefused, close_round, open_round
from apps.judging.actions.seats import SeatsRefused, claim_seats, release_seats

__all__ = [
    "AdjudicationRefused",
    "Answer",
    "GuidelineRefused",
    "ImportRefused",
    "Imported",
    "JudgementRefused",
    "RoundRefused",
    "SeatsRefused",
    "adjudicate",
    "claim_seats",
    "close_round",
    "give_judgement",
    "import_judgements",
    "open_round",
    "publish_guideline",
    "release_seats",
]

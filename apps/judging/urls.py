"""The addresses of the pages and of the API."""

from django.urls import path

from apps.accounts.enums import Scope
from apps.corpus.imports.api import import_urls
from apps.judging.api import decisions, rounds
from apps.judging.api import differences as differences_api
from apps.judging.api import guidelines as guidelines_api
from apps.judging.api import unanswerable as unanswerable_api
from apps.judging.imports.collections import CollectionImport
from apps.judging.imports.judgements import JudgementImport
from apps.judging.pages import adjudication, board, differences, guidelines, judging, planning, unanswerable

pages = [
    path("", board.index, name="index"),
    path("mine/", board.mine, name="mine"),
    path("guideline/", guidelines.latest, name="guideline-latest"),
    path("guideline/new/", guidelines.new, name="guideline-new"),
    path("guideline/<int:number>/", guidelines.version, name="guideline"),
    path("guideline/<int:number>/changes/", guidelines.differences, name="guideline-changes"),
    path("guideline/<int:number>/keep/", guidelines.keep, name="guideline-keep"),
    path("keys/", judging.keys, name="keys"),
    path("keys/reset/", judging.keys_reset, name="keys-reset"),
    path("names/", board.placeholders, name="placeholders"),
    path("names/<int:pk>/claim/", board.join_placeholder, name="claim-placeholder"),
    path("names/<int:pk>/end/", board.free_placeholder, name="end-claim"),
    path("unanswerable/", unanswerable.queue, name="unanswerable"),
    path("unanswerable/<int:snapshot>/<int:pk>/", unanswerable.query, name="unanswerable-query"),
    path("rounds/new/", planning.new_round, name="new-round"),
    path("pilot/", planning.new_pilot, name="new-pilot"),
    path("rounds/new/preview/", planning.preview, name="preview"),
    path("rounds/<int:pk>/", board.round_page, name="round"),
    path("rounds/<int:pk>/open-the-rest/", planning.open_the_rest, name="open-the-rest"),
    path("rounds/<int:pk>/give-back/", board.give_back, name="give-back"),
    path("rounds/<int:pk>/close/", board.close, name="close"),
    path("rounds/<int:pk>/judge/", judging.judge, name="judge"),
    path("rounds/<int:pk>/grade/", judging.grade, name="grade"),
    path("rounds/<int:pk>/pairs/", judging.pairs, name="pairs"),
    path("rounds/<int:pk>/earlier/", judging.earlier, name="earlier"),
    path("rounds/<int:pk>/release/", judging.release, name="release"),
    path("rounds/<int:pk>/differences/", differences.queue, name="differences"),
    path("rounds/<int:pk>/differences/<int:entry>/", differences.difference, name="difference"),
    path("rounds/<int:pk>/adjudicate/", adjudication.queue, name="adjudicate"),
    path("pools/<int:pk>/carry/", planning.carry, name="carry"),
    path("rounds/<int:pk>/settle/", adjudication.settle, name="settle"),
    path("rounds/<int:pk>/adjudicate/<int:entry>/", adjudication.pair, name="adjudicate-pair"),
]

api = [
    path("rounds/", decisions.RoundsView.as_view(), name="rounds"),
    path("guidelines/", guidelines_api.GuidelineList.as_view(), name="guidelines"),
    path("guidelines/<int:number>/earlier/", guidelines_api.EarlierGrades.as_view(), name="earlier"),
    path("guidelines/<int:number>/judge-again/", guidelines_api.JudgeAgain.as_view(), name="judge-again"),
    path("guidelines/<int:number>/keep/", guidelines_api.KeepGrades.as_view(), name="keep"),
    path("rounds/offer/", rounds.OfferView.as_view(), name="offer"),
    path("pilot/", rounds.StartPilotView.as_view(), name="new-pilot"),
    path("rounds/plan/", rounds.PlanView.as_view(), name="plan"),
    path("rounds/<int:pk>/give-back/", rounds.GiveBackView.as_view(), name="give-back"),
    path("rounds/<int:pk>/release/", rounds.ReleaseView.as_view(), name="release"),
    path("rounds/<int:pk>/differences/", differences_api.DifferencesView.as_view(), name="differences"),
    path("rounds/<int:pk>/differences/<int:entry>/open/", differences_api.OpenView.as_view(), name="open-difference"),
    path("rounds/<int:pk>/differences/<int:entry>/", differences_api.AnswerView.as_view(), name="answer-difference"),
    path("rounds/<int:pk>/undecided/", decisions.UndecidedView.as_view(), name="undecided"),
    path("rounds/<int:pk>/undecided/decide/", decisions.DecideManyView.as_view(), name="decide-many"),
    path("rounds/<int:pk>/undecided/<int:entry>/decide/", decisions.DecideView.as_view(), name="decide"),
    path("rounds/<int:pk>/settle/", decisions.SettleView.as_view(), name="settle"),
    path("pools/<int:pk>/carry/", decisions.CarryView.as_view(), name="carry"),
    path("unanswerable/", unanswerable_api.OwnVotesView.as_view(), name="unanswerable"),
    path("unanswerable/vote/", unanswerable_api.VoteView.as_view(), name="vote"),
    path("unanswerable/all/", unanswerable_api.CandidatesView.as_view(), name="candidates"),
    path("unanswerable/decide/", unanswerable_api.DecisionView.as_view(), name="decide-unanswerable"),
    path("rounds/all/", rounds.AllRoundsView.as_view(), name="all-rounds"),
    path("rounds/<int:pk>/close/", rounds.CloseView.as_view(), name="close"),
    path("rounds/<int:pk>/open-the-rest/", rounds.OpenTheRestView.as_view(), name="open-the-rest"),
    path("rounds/<int:pk>/pairs/", decisions.PairsView.as_view(), name="pairs"),
    path("rounds/<int:pk>/judgements/", decisions.JudgementsView.as_view(), name="judgements"),
    *import_urls(JudgementImport, noun="judging", reads=Scope.JUDGING_WRITE, writes=Scope.JUDGING_WRITE),
    path("placeholders/", rounds.PlaceholdersView.as_view(), name="placeholders"),
    path("placeholders/<int:pk>/claim/", rounds.ClaimView.as_view(), name="claim"),
    path("placeholders/<int:pk>/end/", rounds.EndClaimView.as_view(), name="end-claim"),
]

collection_api = import_urls(
    CollectionImport,
    noun="collections",
    reads=Scope.CORPUS_READ,
    writes=(Scope.CORPUS_WRITE, Scope.JUDGING_WRITE),
)

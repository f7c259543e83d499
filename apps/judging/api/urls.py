from django.urls import path

from apps.accounts.enums import Scope
from apps.corpus.edges.import_api import import_urls
from apps.judging.api import decisions, guidelines, placeholders, rounds
from apps.judging.edges.imports import JudgementImport

app_name = "judging-api"
urlpatterns = [
    path("rounds/", decisions.RoundsView.as_view(), name="rounds"),
    path("guidelines/", guidelines.GuidelineList.as_view(), name="guidelines"),
    path("guidelines/<int:number>/earlier/", guidelines.EarlierGrades.as_view(), name="earlier"),
    path("guidelines/<int:number>/judge-again/", guidelines.JudgeAgain.as_view(), name="judge-again"),
    path("guidelines/<int:number>/keep/", guidelines.KeepGrades.as_view(), name="keep"),
    path("rounds/offer/", rounds.OfferView.as_view(), name="offer"),
    path("rounds/plan/", rounds.PlanView.as_view(), name="plan"),
    path("rounds/<int:pk>/give-back/", rounds.GiveBackView.as_view(), name="give-back"),
    path("rounds/<int:pk>/release/", rounds.ReleaseView.as_view(), name="release"),
    path("rounds/<int:pk>/undecided/", decisions.UndecidedView.as_view(), name="undecided"),
    path("rounds/<int:pk>/undecided/<int:entry>/decide/", decisions.DecideView.as_view(), name="decide"),
    path("rounds/<int:pk>/settle/", decisions.SettleView.as_view(), name="settle"),
    path("pools/<int:pk>/carry/", decisions.CarryView.as_view(), name="carry"),
    path("rounds/all/", rounds.AllRoundsView.as_view(), name="all-rounds"),
    path("rounds/<int:pk>/close/", rounds.CloseView.as_view(), name="close"),
    path("rounds/<int:pk>/open-the-rest/", rounds.OpenTheRestView.as_view(), name="open-the-rest"),
    path("rounds/<int:pk>/pairs/", decisions.PairsView.as_view(), name="pairs"),
    path("rounds/<int:pk>/judgements/", decisions.JudgementsView.as_view(), name="judgements"),
    *import_urls(JudgementImport, noun="judging", reads=Scope.JUDGING_WRITE, writes=Scope.JUDGING_WRITE),
    path("placeholders/", placeholders.PlaceholdersView.as_view(), name="placeholders"),
    path("placeholders/<int:pk>/claim/", placeholders.ClaimView.as_view(), name="claim"),
    path("placeholders/<int:pk>/end/", placeholders.EndClaimView.as_view(), name="end-claim"),
]

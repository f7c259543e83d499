from django.urls import include, path

from apps.evaluation.api import drops, evaluations, version_runs

PAIR = [
    path("", evaluations.ComparisonDetail.as_view(), name="compare"),
    path("drops/", drops.Drops.as_view(), name="drops"),
    path("decide/", drops.DropDecision.as_view(), name="decide"),
    path("close/", drops.ComparisonClose.as_view(), name="close"),
    path("judge-again/", drops.JudgeAgain.as_view(), name="judge-again"),
    path("unjudged/", drops.Unjudged.as_view(), name="unjudged"),
]

app_name = "evaluation-api"
urlpatterns = [
    path("", evaluations.EvaluationList.as_view(), name="list"),
    path("<int:pk>/", evaluations.EvaluationDetail.as_view(), name="detail"),
    path("<int:pk>/misses/", drops.Misses.as_view(), name="misses"),
    path("versions/<int:version_pk>/rest/", version_runs.ScoreRest.as_view(), name="score-rest"),
    path("versions/<int:version_pk>/run-again/", version_runs.SystemsAgain.as_view(), name="run-again"),
    path("compare/<int:baseline>/<int:candidate>/", include(PAIR)),
    path("ledger/<int:pk>/", evaluations.LedgerLine.as_view(), name="ledger"),
]

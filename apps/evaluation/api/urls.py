from django.urls import path

from apps.evaluation.api import comparison, evaluations, misses

app_name = "evaluation-api"
urlpatterns = [
    path("", evaluations.EvaluationList.as_view(), name="list"),
    path("<int:pk>/", evaluations.EvaluationDetail.as_view(), name="detail"),
    path("<int:pk>/misses/", misses.Misses.as_view(), name="misses"),
    path("compare/<int:baseline>/<int:candidate>/", comparison.ComparisonDetail.as_view(), name="compare"),
    path("ledger/<int:pk>/", comparison.LedgerLine.as_view(), name="ledger"),
]

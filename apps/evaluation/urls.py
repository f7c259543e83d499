"""The addresses of the pages and of the API."""

from django.urls import URLPattern, URLResolver, include, path

from apps.evaluation.api import drops, evaluations
from apps.evaluation.pages import comparison, evaluation, leaderboard, misses, slices, trends

PAIR = [
    path("", comparison.compare, name="compare"),
    path("decide/", comparison.decide, name="decide"),
    path("close/", comparison.close, name="close"),
    path("plan/", comparison.plan, name="plan"),
    path("again/", comparison.again, name="judge-again"),
    path("export/", comparison.export, name="export"),
    path("queries/<int:pk>/", comparison.query_page, name="query"),
    path("queries/<int:pk>/grades/", comparison.pool_unjudged, name="request-grades"),
]

pages: list[URLPattern | URLResolver] = [
    path("", leaderboard.overview, name="overview"),
    path("<int:pk>/", evaluation.evaluation_page, name="evaluation"),
    path("<int:pk>/returned/<int:query_pk>/", misses.returned, name="returned"),
    path("<int:pk>/not-located/", misses.not_located, name="not-located"),
    path("<int:pk>/leaks/", misses.leaks, name="leaks"),
    path("<int:pk>/misses/<int:place>/", misses.miss, name="misses"),
    path("<int:pk>/misses/<int:place>/say/", misses.say, name="miss-note"),
    path("version/<int:version_pk>/score/", leaderboard.score, name="score"),
    path("version/<int:version_pk>/rest/", trends.score_rest, name="score-rest"),
    path("version/<int:version_pk>/again/", evaluation.run_again, name="run-again"),
    path("slices/", slices.slices_page, name="slices"),
    path("trend/", trends.trend, name="trend"),
    path("costs/", trends.costs, name="costs"),
    path("ledger/", trends.ledger, name="ledger"),
    path("ledger/<int:pk>/", trends.ledger_note, name="ledger-note"),
    path("compare/", comparison.pick, name="pick"),
    path("compare/<int:baseline>/<int:candidate>/", include(PAIR)),
]

PAIR = [
    path("", evaluations.ComparisonDetail.as_view(), name="compare"),
    path("drops/", drops.Drops.as_view(), name="drops"),
    path("decide/", drops.DropDecision.as_view(), name="decide"),
    path("close/", drops.ComparisonClose.as_view(), name="close"),
    path("plan/", evaluations.ComparisonPlan.as_view(), name="plan"),
    path("judge-again/", drops.JudgeAgain.as_view(), name="judge-again"),
    path("unjudged/", drops.Unjudged.as_view(), name="unjudged"),
]

api: list[URLPattern | URLResolver] = [
    path("", evaluations.EvaluationList.as_view(), name="list"),
    path("<int:pk>/", evaluations.EvaluationDetail.as_view(), name="detail"),
    path("<int:pk>/leaks/", drops.Leaks.as_view(), name="leaks"),
    path("<int:pk>/misses/", drops.Misses.as_view(), name="misses"),
    path("versions/<int:version_pk>/rest/", evaluations.ScoreRest.as_view(), name="score-rest"),
    path("versions/<int:version_pk>/run-again/", evaluations.SystemsAgain.as_view(), name="run-again"),
    path("compare/<int:baseline>/<int:candidate>/", include(PAIR)),
    path("ledger/<int:pk>/", evaluations.LedgerLine.as_view(), name="ledger"),
]

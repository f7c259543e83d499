from django.urls import include, path

from apps.evaluation.pages import comparison, evaluation, leaderboard, misses, slices, trends

PAIR = [
    path("", comparison.compare, name="compare"),
    path("decide/", comparison.decide, name="decide"),
    path("close/", comparison.close, name="close"),
    path("again/", comparison.again, name="judge-again"),
    path("export/", comparison.export, name="export"),
    path("queries/<int:pk>/", comparison.query_page, name="query"),
    path("queries/<int:pk>/grades/", comparison.pool_unjudged, name="request-grades"),
]

app_name = "evaluation"
urlpatterns = [
    path("", leaderboard.overview, name="overview"),
    path("<int:pk>/", evaluation.evaluation_page, name="evaluation"),
    path("<int:pk>/misses/<int:place>/", misses.miss, name="misses"),
    path("<int:pk>/misses/<int:place>/say/", misses.say, name="miss-note"),
    path("version/<int:version_pk>/score/", leaderboard.score, name="score"),
    path("version/<int:version_pk>/rest/", trends.score_rest, name="score-rest"),
    path("version/<int:version_pk>/again/", evaluation.run_again, name="run-again"),
    path("slices/", slices.slices, name="slices"),
    path("trend/", trends.trend, name="trend"),
    path("costs/", trends.costs, name="costs"),
    path("ledger/", trends.ledger, name="ledger"),
    path("ledger/<int:pk>/", trends.ledger_note, name="ledger-note"),
    path("compare/", comparison.pick, name="pick"),
    path("compare/<int:baseline>/<int:candidate>/", include(PAIR)),
]

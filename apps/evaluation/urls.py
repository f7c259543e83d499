from django.urls import include, path

from apps.evaluation.views import bias, boards, comparison, evaluation, negatives, overview, reports, stability

PAIR = [
    path("", comparison.compare, name="compare"),
    path("decide/", comparison.decide, name="decide"),
    path("close/", comparison.close, name="close"),
    path("again/", comparison.again, name="judge-again"),
    path("export/", comparison.export, name="export"),
    path("report/", reports.comparison, name="comparison-report"),
    path("queries/<int:pk>/", comparison.query_page, name="query"),
    path("queries/<int:pk>/grades/", comparison.ask_grades, name="ask-grades"),
]

app_name = "evaluation"
urlpatterns = [
    path("", overview.overview, name="overview"),
    path("<int:pk>/", evaluation.evaluation_page, name="evaluation"),
    path("<int:pk>/report/", reports.evaluation, name="report"),
    path("version/<int:version_pk>/report/", reports.version, name="version-report"),
    path("version/<int:version_pk>/score/", overview.score, name="score"),
    path("version/<int:version_pk>/rest/", boards.score_rest, name="score-rest"),
    path("trend/", boards.trend, name="trend"),
    path("costs/", boards.costs, name="costs"),
    path("ledger/", boards.ledger, name="ledger"),
    path("ledger/<int:pk>/", boards.ledger_note, name="ledger-note"),
    path("bias/", bias.bias_reports, name="bias-reports"),
    path("bias/<int:pk>/", bias.bias_page, name="bias"),
    path("bias/<int:pk>/first/", bias.judge_first, name="judge-first"),
    path("version/<int:version_pk>/bias/", bias.ask_bias, name="ask-bias"),
    path("stability/", stability.stability_reports, name="stability-reports"),
    path("stability/<int:pk>/", stability.stability_page, name="stability"),
    path("version/<int:version_pk>/stability/", stability.ask_stability, name="ask-stability"),
    path("version/<int:version_pk>/negatives/", negatives.negatives, name="negatives"),
    path("version/<int:version_pk>/negatives/file/", negatives.negatives_file, name="negatives-file"),
    path("gates/", include("apps.evaluation.gate_urls")),
    path("compare/", comparison.pick, name="pick"),
    path("compare/<int:baseline>/<int:candidate>/", include(PAIR)),
]

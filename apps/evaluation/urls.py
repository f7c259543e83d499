from django.urls import include, path

from apps.evaluation import (
    bias_views,
    board_views,
    compare_views,
    evaluation_views,
    negatives_views,
    report_views,
    stability_views,
    views,
)

PAIR = [
    path("", compare_views.compare, name="compare"),
    path("decide/", compare_views.decide, name="decide"),
    path("close/", compare_views.close, name="close"),
    path("again/", compare_views.again, name="judge-again"),
    path("export/", compare_views.export, name="export"),
    path("report/", report_views.comparison, name="comparison-report"),
    path("queries/<int:pk>/", compare_views.query_page, name="query"),
    path("queries/<int:pk>/grades/", compare_views.ask_grades, name="ask-grades"),
]

app_name = "evaluation"
urlpatterns = [
    path("", views.overview, name="overview"),
    path("<int:pk>/", evaluation_views.evaluation_page, name="evaluation"),
    path("<int:pk>/report/", report_views.evaluation, name="report"),
    path("version/<int:version_pk>/report/", report_views.version, name="version-report"),
    path("version/<int:version_pk>/score/", views.score, name="score"),
    path("version/<int:version_pk>/rest/", board_views.score_rest, name="score-rest"),
    path("trend/", board_views.trend, name="trend"),
    path("costs/", board_views.costs, name="costs"),
    path("ledger/", board_views.ledger, name="ledger"),
    path("ledger/<int:pk>/", board_views.ledger_note, name="ledger-note"),
    path("bias/", bias_views.bias_reports, name="bias-reports"),
    path("bias/<int:pk>/", bias_views.bias_page, name="bias"),
    path("bias/<int:pk>/first/", bias_views.judge_first, name="judge-first"),
    path("version/<int:version_pk>/bias/", bias_views.ask_bias, name="ask-bias"),
    path("stability/", stability_views.stability_reports, name="stability-reports"),
    path("stability/<int:pk>/", stability_views.stability_page, name="stability"),
    path("version/<int:version_pk>/stability/", stability_views.ask_stability, name="ask-stability"),
    path("version/<int:version_pk>/negatives/", negatives_views.negatives, name="negatives"),
    path("version/<int:version_pk>/negatives/file/", negatives_views.negatives_file, name="negatives-file"),
    path("gates/", include("apps.evaluation.gate_urls")),
    path("compare/", compare_views.pick, name="pick"),
    path("compare/<int:baseline>/<int:candidate>/", include(PAIR)),
]

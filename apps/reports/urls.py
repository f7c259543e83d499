"""The addresses of the pages and of the API."""

from django.urls import path

from apps.reports import api as analyses_api
from apps.reports.pages import analyses, bias, negatives, stability

BIAS, STABILITY = {"pages": bias.PAGES}, {"pages": stability.PAGES}

pages = [
    path("<int:pk>/report/", analyses.evaluation, name="evaluation"),
    path("compare/<int:baseline>/<int:candidate>/report/", analyses.comparison, name="comparison"),
    path("version/<int:version_pk>/report/", analyses.version, name="version"),
    path("bias/", analyses.reports, BIAS, name="bias-reports"),
    path("bias/<int:pk>/", bias.bias_page, name="bias"),
    path("bias/<int:pk>/first/", bias.judge_first, name="judge-next"),
    path("version/<int:version_pk>/bias/", analyses.request_new, BIAS, name="request-bias"),
    path("stability/", analyses.reports, STABILITY, name="stability-reports"),
    path("stability/<int:pk>/", stability.stability_page, name="stability"),
    path(
        "version/<int:version_pk>/stability/",
        analyses.request_new,
        STABILITY,
        name="request-stability",
    ),
    path("version/<int:version_pk>/negatives/", negatives.negatives, name="negatives"),
    path("version/<int:version_pk>/negatives/measure/", negatives.measure, name="measure-negatives"),
    path("version/<int:version_pk>/negatives/file/", negatives.negatives_file, name="negatives-file"),
]

api = [
    path("<int:pk>/report/", analyses_api.EvaluationReport.as_view(), name="evaluation"),
    path("compare/<int:baseline>/<int:candidate>/report/", analyses_api.ComparisonReport.as_view(), name="comparison"),
    path("versions/<int:version_pk>/report/", analyses_api.VersionReport.as_view(), name="version"),
    path("bias/", analyses_api.BiasReportList.as_view(), name="bias-reports"),
    path("bias/<int:pk>/", analyses_api.BiasReportDetail.as_view(), name="bias"),
    path("bias/<int:pk>/first/", analyses_api.FirstToJudge.as_view(), name="judge-next"),
    path("stability/", analyses_api.StabilityReportList.as_view(), name="stability-reports"),
    path("stability/<int:pk>/", analyses_api.StabilityReportDetail.as_view(), name="stability"),
    path("versions/<int:version_pk>/negatives/", analyses_api.Negatives.as_view(), name="negatives"),
    path(
        "versions/<int:version_pk>/negatives/measured/",
        analyses_api.NegativeEffects.as_view(),
        name="negative-effects",
    ),
]

from django.urls import path

from apps.evaluation import api, bias_api, compare_api, gate_api, gate_file_api, report_api, stability_api

app_name = "evaluation-api"
urlpatterns = [
    path("", api.EvaluationList.as_view(), name="list"),
    path("<int:pk>/", api.EvaluationDetail.as_view(), name="detail"),
    path("<int:pk>/report/", report_api.EvaluationReport.as_view(), name="report"),
    path("compare/<int:baseline>/<int:candidate>/", compare_api.ComparisonDetail.as_view(), name="compare"),
    path(
        "compare/<int:baseline>/<int:candidate>/report/",
        report_api.ComparisonReport.as_view(),
        name="comparison-report",
    ),
    path("versions/<int:version_pk>/report/", report_api.VersionReport.as_view(), name="version-report"),
    path("ledger/<int:pk>/", compare_api.LedgerLine.as_view(), name="ledger"),
    path("bias/", bias_api.BiasReportList.as_view(), name="bias-reports"),
    path("bias/<int:pk>/", bias_api.BiasReportDetail.as_view(), name="bias"),
    path("stability/", stability_api.StabilityReportList.as_view(), name="stability-reports"),
    path("stability/<int:pk>/", stability_api.StabilityReportDetail.as_view(), name="stability"),
    path("gates/", gate_api.GateList.as_view(), name="gates"),
    path("gates/file/<slug:gold_set>/<int:system_pk>/", gate_file_api.GateFile.as_view(), name="gates-file"),
    path("gates/import/<slug:gold_set>/", gate_file_api.GateFileIn.as_view(), name="import-gates"),
    path("gates/<int:pk>/", gate_api.GateDetail.as_view(), name="gate"),
    path("versions/<int:version_pk>/negatives/", bias_api.Negatives.as_view(), name="negatives"),
]

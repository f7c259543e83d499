from django.urls import path

from apps.evaluation.api import bias, comparison, evaluations, gate_files, gates, reports, stability

app_name = "evaluation-api"
urlpatterns = [
    path("", evaluations.EvaluationList.as_view(), name="list"),
    path("<int:pk>/", evaluations.EvaluationDetail.as_view(), name="detail"),
    path("<int:pk>/report/", reports.EvaluationReport.as_view(), name="report"),
    path("compare/<int:baseline>/<int:candidate>/", comparison.ComparisonDetail.as_view(), name="compare"),
    path(
        "compare/<int:baseline>/<int:candidate>/report/",
        reports.ComparisonReport.as_view(),
        name="comparison-report",
    ),
    path("versions/<int:version_pk>/report/", reports.VersionReport.as_view(), name="version-report"),
    path("ledger/<int:pk>/", comparison.LedgerLine.as_view(), name="ledger"),
    path("bias/", bias.BiasReportList.as_view(), name="bias-reports"),
    path("bias/<int:pk>/", bias.BiasReportDetail.as_view(), name="bias"),
    path("stability/", stability.StabilityReportList.as_view(), name="stability-reports"),
    path("stability/<int:pk>/", stability.StabilityReportDetail.as_view(), name="stability"),
    path("gates/", gates.GateList.as_view(), name="gates"),
    path("gates/file/<slug:gold_set>/<int:system_pk>/", gate_files.GateFile.as_view(), name="gates-file"),
    path("gates/import/<slug:gold_set>/", gate_files.GateFileIn.as_view(), name="import-gates"),
    path("gates/<int:pk>/", gates.GateDetail.as_view(), name="gate"),
    path("gates/<int:pk>/replace/", gates.GateChange.as_view(), name="replace-gate"),
    path("gates/<int:pk>/retire/", gates.GateEnd.as_view(), name="retire-gate"),
    path("versions/<int:version_pk>/negatives/", bias.Negatives.as_view(), name="negatives"),
]

from django.urls import path

from apps.evaluation import api, bias_api, compare_api, gate_api, stability_api

app_name = "evaluation-api"
urlpatterns = [
    path("", api.EvaluationList.as_view(), name="list"),
    path("<int:pk>/", api.EvaluationDetail.as_view(), name="detail"),
    path("compare/<int:baseline>/<int:candidate>/", compare_api.ComparisonDetail.as_view(), name="compare"),
    path("ledger/<int:pk>/", compare_api.LedgerLine.as_view(), name="ledger"),
    path("bias/", bias_api.BiasReportList.as_view(), name="bias-reports"),
    path("bias/<int:pk>/", bias_api.BiasReportDetail.as_view(), name="bias"),
    path("stability/", stability_api.StabilityReportList.as_view(), name="stability-reports"),
    path("stability/<int:pk>/", stability_api.StabilityReportDetail.as_view(), name="stability"),
    path("gates/", gate_api.GateList.as_view(), name="gates"),
    path("gates/<int:pk>/", gate_api.GateDetail.as_view(), name="gate"),
    path("versions/<int:version_pk>/negatives/", bias_api.Negatives.as_view(), name="negatives"),
]

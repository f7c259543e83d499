from django.urls import path

from apps.reports.api import analyses, negatives

app_name = "reports-api"
urlpatterns = [
    path("<int:pk>/report/", analyses.EvaluationReport.as_view(), name="evaluation"),
    path("compare/<int:baseline>/<int:candidate>/report/", analyses.ComparisonReport.as_view(), name="comparison"),
    path("versions/<int:version_pk>/report/", analyses.VersionReport.as_view(), name="version"),
    path("bias/", analyses.BiasReportList.as_view(), name="bias-reports"),
    path("bias/<int:pk>/", analyses.BiasReportDetail.as_view(), name="bias"),
    path("bias/<int:pk>/first/", analyses.FirstToJudge.as_view(), name="judge-next"),
    path("stability/", analyses.StabilityReportList.as_view(), name="stability-reports"),
    path("stability/<int:pk>/", analyses.StabilityReportDetail.as_view(), name="stability"),
    path("versions/<int:version_pk>/negatives/", negatives.Negatives.as_view(), name="negatives"),
    path(
        "versions/<int:version_pk>/negatives/measured/",
        negatives.NegativeEffects.as_view(),
        name="negative-effects",
    ),
]

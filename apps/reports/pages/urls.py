from django.urls import path

from apps.reports.pages import analyses, bias, negatives, stability

app_name = "reports"
urlpatterns = [
    path("<int:pk>/report/", analyses.evaluation, name="evaluation"),
    path("compare/<int:baseline>/<int:candidate>/report/", analyses.comparison, name="comparison"),
    path("version/<int:version_pk>/report/", analyses.version, name="version"),
    path("bias/", bias.bias_reports, name="bias-reports"),
    path("bias/<int:pk>/", bias.bias_page, name="bias"),
    path("bias/<int:pk>/first/", bias.judge_first, name="judge-next"),
    path("version/<int:version_pk>/bias/", bias.request_bias, name="request-bias"),
    path("stability/", stability.stability_reports, name="stability-reports"),
    path("stability/<int:pk>/", stability.stability_page, name="stability"),
    path("version/<int:version_pk>/stability/", stability.request_stability, name="request-stability"),
    path("version/<int:version_pk>/negatives/", negatives.negatives, name="negatives"),
    path("version/<int:version_pk>/negatives/measure/", negatives.measure, name="measure-negatives"),
    path("version/<int:version_pk>/negatives/file/", negatives.negatives_file, name="negatives-file"),
]

from django.urls import path

from apps.review.api import exports

app_name = "triples-export"
urlpatterns = [
    path("", exports.TripleExport.as_view(), name="file"),
    path("report/", exports.TripleExportReport.as_view(), name="report"),
]

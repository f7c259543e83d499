from django.urls import path

from apps.review import export_api

app_name = "triples-export"
urlpatterns = [
    path("", export_api.TripleExport.as_view(), name="file"),
    path("report/", export_api.TripleExportReport.as_view(), name="report"),
]

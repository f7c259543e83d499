from django.urls import path

from apps.triples import api, import_api

app_name = "triples-api"
urlpatterns = [
    path("", api.TripleList.as_view(), name="list"),
    path("imports/", import_api.TripleImports.as_view(), name="imports"),
    path("imports/<int:pk>/", import_api.TripleImportDetail.as_view(), name="import"),
    path("imports/<int:pk>/confirm/", import_api.TripleImportConfirm.as_view(), name="import-confirm"),
    path("<int:pk>/", api.TripleDetail.as_view(), name="detail"),
]

from django.urls import path

from apps.triples.api import imports, triples

app_name = "triples-api"
urlpatterns = [
    path("", triples.TripleList.as_view(), name="list"),
    path("imports/", imports.TripleImports.as_view(), name="imports"),
    path("imports/<int:pk>/", imports.TripleImportDetail.as_view(), name="import"),
    path("imports/<int:pk>/confirm/", imports.TripleImportConfirm.as_view(), name="import-confirm"),
    path("<int:pk>/", triples.TripleDetail.as_view(), name="detail"),
]

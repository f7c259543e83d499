from django.urls import path

from apps.triples.api import imports, triples

app_name = "triples-api"
urlpatterns = [
    path("", triples.TripleList.as_view(), name="list"),
    *imports.URLS,
    path("<int:pk>/", triples.TripleDetail.as_view(), name="detail"),
]

from django.urls import path

from apps.triples import api

app_name = "triples-api"
urlpatterns = [
    path("", api.TripleList.as_view(), name="list"),
    path("<int:pk>/", api.TripleDetail.as_view(), name="detail"),
]

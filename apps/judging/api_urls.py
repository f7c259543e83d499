from django.urls import path

from apps.judging import api

app_name = "judging-api"
urlpatterns = [
    path("rounds/", api.RoundsView.as_view(), name="rounds"),
    path("rounds/<int:pk>/pairs/", api.PairsView.as_view(), name="pairs"),
    path("rounds/<int:pk>/judgements/", api.JudgementsView.as_view(), name="judgements"),
]

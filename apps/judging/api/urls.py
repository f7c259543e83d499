from django.urls import path

from apps.judging.api import judging

app_name = "judging-api"
urlpatterns = [
    path("rounds/", judging.RoundsView.as_view(), name="rounds"),
    path("rounds/<int:pk>/pairs/", judging.PairsView.as_view(), name="pairs"),
    path("rounds/<int:pk>/judgements/", judging.JudgementsView.as_view(), name="judgements"),
]

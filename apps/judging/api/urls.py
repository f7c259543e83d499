from django.urls import path

from apps.judging.api import imports, judging, placeholders, rounds

app_name = "judging-api"
urlpatterns = [
    path("rounds/", judging.RoundsView.as_view(), name="rounds"),
    path("rounds/all/", rounds.AllRoundsView.as_view(), name="all-rounds"),
    path("rounds/<int:pk>/close/", rounds.CloseView.as_view(), name="close"),
    path("rounds/<int:pk>/open-the-rest/", rounds.OpenTheRestView.as_view(), name="open-the-rest"),
    path("rounds/<int:pk>/pairs/", judging.PairsView.as_view(), name="pairs"),
    path("rounds/<int:pk>/judgements/", judging.JudgementsView.as_view(), name="judgements"),
    *imports.URLS,
    path("placeholders/", placeholders.PlaceholdersView.as_view(), name="placeholders"),
    path("placeholders/<int:pk>/claim/", placeholders.ClaimView.as_view(), name="claim"),
    path("placeholders/<int:pk>/end/", placeholders.EndClaimView.as_view(), name="end-claim"),
]

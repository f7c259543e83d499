from django.urls import path

from apps.review import api

app_name = "review-api"
urlpatterns = [
    path("queue/", api.QueueView.as_view(), name="queue"),
    path("next/", api.NextView.as_view(), name="next"),
    path("pull/", api.PullView.as_view(), name="pull"),
    path("board/", api.BoardView.as_view(), name="board"),
    path("<int:pk>/give-back/", api.GiveBackView.as_view(), name="give_back"),
    path("<int:pk>/re-seat/", api.ReseatView.as_view(), name="reseat"),
    path("<int:pk>/verdict/", api.VerdictView.as_view(), name="verdict"),
]

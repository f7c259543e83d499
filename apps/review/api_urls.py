from django.urls import path

from apps.review import api

app_name = "review-api"
urlpatterns = [
    path("queue/", api.QueueView.as_view(), name="queue"),
    path("next/", api.NextView.as_view(), name="next"),
    path("<int:pk>/verdict/", api.VerdictView.as_view(), name="verdict"),
]

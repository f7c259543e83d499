from django.urls import path

from apps.evaluation import api

app_name = "evaluation-api"
urlpatterns = [
    path("", api.EvaluationList.as_view(), name="list"),
    path("<int:pk>/", api.EvaluationDetail.as_view(), name="detail"),
]

"""The addresses of the API of runs and pools."""

from django.urls import path

from apps.retrieval.api.runs import PoolDetail, PoolList, PushDetail, RunDetail, RunList

app_name = "retrieval-api"
urlpatterns = [
    path("", RunList.as_view(), name="runs"),
    path("<int:pk>/", RunDetail.as_view(), name="run"),
    path("pushes/<int:pk>/", PushDetail.as_view(), name="push"),
    path("pools/", PoolList.as_view(), name="pools"),
    path("pools/<int:pk>/", PoolDetail.as_view(), name="pool"),
]

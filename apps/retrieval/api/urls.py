"""The addresses of the API of runs and pools."""

from django.urls import path

from apps.retrieval.api.pools import PoolDetail, PoolGrow, PoolList, PoolMissing
from apps.retrieval.api.runs import PushDetail, RunDetail, RunList

app_name = "retrieval-api"
urlpatterns = [
    path("", RunList.as_view(), name="runs"),
    path("<int:pk>/", RunDetail.as_view(), name="run"),
    path("pushes/<int:pk>/", PushDetail.as_view(), name="push"),
    path("pools/", PoolList.as_view(), name="pools"),
    path("pools/<int:pk>/", PoolDetail.as_view(), name="pool"),
    path("pools/<int:pk>/grow/", PoolGrow.as_view(), name="grow-pool"),
    path("pools/<int:pk>/missing/", PoolMissing.as_view(), name="missing"),
]

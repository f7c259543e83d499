from django.urls import path

from apps.corpus import api

app_name = "corpus-api"

urlpatterns = [
    path("snapshots/", api.SnapshotList.as_view(), name="snapshots"),
    path("snapshots/freezes/<int:pk>/", api.FreezeDetail.as_view(), name="freeze"),
    path("snapshots/<int:pk>/", api.SnapshotDetail.as_view(), name="snapshot"),
    path("snapshots/<int:pk>/blocks/", api.BlockList.as_view(), name="blocks"),
]

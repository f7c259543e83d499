from django.urls import path

from apps.corpus.api import views

app_name = "corpus-api"

urlpatterns = [
    path("snapshots/", views.SnapshotList.as_view(), name="snapshots"),
    path("snapshots/freezes/<int:pk>/", views.FreezeDetail.as_view(), name="freeze"),
    path("snapshots/<int:pk>/", views.SnapshotDetail.as_view(), name="snapshot"),
    path("snapshots/<int:pk>/blocks/", views.BlockList.as_view(), name="blocks"),
]

from django.urls import path

from apps.corpus.api import imports, texts, views

app_name = "corpus-api"

urlpatterns = [
    path("corpora/", texts.CorpusList.as_view(), name="corpora"),
    path("texts/", texts.TextList.as_view(), name="texts"),
    path("texts/<int:pk>/redact/", texts.TextRedact.as_view(), name="redact"),
    *imports.URLS,
    path("snapshots/", views.SnapshotList.as_view(), name="snapshots"),
    path("snapshots/freezes/<int:pk>/", views.FreezeDetail.as_view(), name="freeze"),
    path("snapshots/<int:pk>/", views.SnapshotDetail.as_view(), name="snapshot"),
    path("snapshots/<int:pk>/blocks/", views.BlockList.as_view(), name="blocks"),
]

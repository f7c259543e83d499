from django.urls import path

from apps.accounts.enums import Scope
from apps.corpus.api import texts, views
from apps.corpus.edges.import_api import import_urls
from apps.corpus.edges.imports import CorpusImport

app_name = "corpus-api"

urlpatterns = [
    path("corpora/", texts.CorpusList.as_view(), name="corpora"),
    path("texts/", texts.TextList.as_view(), name="texts"),
    path("texts/<int:pk>/redact/", texts.TextRedact.as_view(), name="redact"),
    *import_urls(CorpusImport, noun="corpus", reads=Scope.CORPUS_READ, writes=Scope.CORPUS_WRITE),
    path("snapshots/", views.SnapshotList.as_view(), name="snapshots"),
    path("snapshots/freezes/<int:pk>/", views.FreezeDetail.as_view(), name="freeze"),
    path("snapshots/<int:pk>/", views.SnapshotDetail.as_view(), name="snapshot"),
    path("snapshots/<int:pk>/blocks/", views.BlockList.as_view(), name="blocks"),
]

"""The addresses of the pages and of the API."""

from django.urls import path

from apps.accounts.enums import Scope
from apps.corpus import api as views
from apps.corpus.imports.api import import_urls
from apps.corpus.imports.documents import CorpusImport
from apps.corpus.pages import corpora, imports

pages = [
    path("", corpora.corpus_list, name="list"),
    path("c/<slug:corpus_slug>/", corpora.corpus_page, name="corpus"),
    path("c/<slug:corpus_slug>/freeze/", corpora.freeze, name="freeze"),
    path("snapshots/<int:pk>/", corpora.snapshot_page, name="snapshot"),
    path("snapshots/<int:pk>/changes/", corpora.snapshot_changes, name="changes"),
    path("blocks/<int:pk>/", corpora.block_page, name="block"),
    path("texts/<int:pk>/redact/", corpora.redact, name="redact"),
    path("imports/", imports.import_list, name="imports"),
    path("imports/new/<slug:kind>/", imports.import_new, name="import-new"),
    path("imports/<int:pk>/", imports.import_page, name="import"),
    path("imports/<int:pk>/options/", imports.import_options, name="import-options"),
    path("imports/<int:pk>/fix/", imports.import_fix, name="import-fix"),
    path("imports/<int:pk>/columns/", imports.import_columns, name="import-columns"),
    path("imports/<int:pk>/confirm/", imports.import_confirm, name="import-confirm"),
    path("imports/<int:pk>/discard/", imports.import_discard, name="import-discard"),
    path("imports/<int:pk>/undo/", imports.import_undo, name="import-undo"),
    path("imports/<int:pk>/mistakes.csv", imports.import_errors, name="import-errors"),
]

api = [
    path("corpora/", views.CorpusList.as_view(), name="corpora"),
    path("texts/", views.TextList.as_view(), name="texts"),
    path("texts/<int:pk>/redact/", views.TextRedact.as_view(), name="redact"),
    *import_urls(CorpusImport, noun="corpus", reads=Scope.CORPUS_READ, writes=Scope.CORPUS_WRITE),
    path("snapshots/", views.SnapshotList.as_view(), name="snapshots"),
    path("snapshots/freezes/<int:pk>/", views.FreezeDetail.as_view(), name="freeze"),
    path("snapshots/<int:pk>/", views.SnapshotDetail.as_view(), name="snapshot"),
    path("snapshots/<int:pk>/blocks/", views.BlockList.as_view(), name="blocks"),
]

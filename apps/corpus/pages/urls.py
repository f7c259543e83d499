from django.urls import path

from apps.corpus.pages import corpora
from apps.corpus.pages import imports as importing

app_name = "corpus"

urlpatterns = [
    path("", corpora.corpus_list, name="list"),
    path("c/<slug:corpus_slug>/", corpora.corpus_page, name="corpus"),
    path("c/<slug:corpus_slug>/freeze/", corpora.freeze, name="freeze"),
    path("snapshots/<int:pk>/", corpora.snapshot_page, name="snapshot"),
    path("snapshots/<int:pk>/changes/", corpora.snapshot_changes, name="changes"),
    path("blocks/<int:pk>/", corpora.block_page, name="block"),
    path("texts/<int:pk>/redact/", corpora.redact, name="redact"),
    path("imports/", importing.import_list, name="imports"),
    path("imports/new/<slug:kind>/", importing.import_new, name="import-new"),
    path("imports/<int:pk>/", importing.import_page, name="import"),
    path("imports/<int:pk>/options/", importing.import_options, name="import-options"),
    path("imports/<int:pk>/fix/", importing.import_fix, name="import-fix"),
    path("imports/<int:pk>/columns/", importing.import_columns, name="import-columns"),
    path("imports/<int:pk>/confirm/", importing.import_confirm, name="import-confirm"),
    path("imports/<int:pk>/discard/", importing.import_discard, name="import-discard"),
    path("imports/<int:pk>/undo/", importing.import_undo, name="import-undo"),
    path("imports/<int:pk>/mistakes.csv", importing.import_errors, name="import-errors"),
]

from django.urls import path

from apps.corpus import views
from apps.corpus.importing import views as importing

app_name = "corpus"

urlpatterns = [
    path("", views.corpus_list, name="list"),
    path("c/<slug:corpus_slug>/", views.corpus_page, name="corpus"),
    path("c/<slug:corpus_slug>/freeze/", views.freeze, name="freeze"),
    path("snapshots/<int:pk>/", views.snapshot_page, name="snapshot"),
    path("snapshots/<int:pk>/changes/", views.snapshot_changes, name="changes"),
    path("blocks/<int:pk>/", views.block_page, name="block"),
    path("texts/<int:pk>/redact/", views.redact, name="redact"),
    path("imports/", importing.import_list, name="imports"),
    path("imports/new/<slug:kind>/", importing.import_new, name="import-new"),
    path("imports/<int:pk>/", importing.import_page, name="import"),
    path("imports/<int:pk>/confirm/", importing.import_confirm, name="import-confirm"),
    path("imports/<int:pk>/discard/", importing.import_discard, name="import-discard"),
    path("imports/<int:pk>/mistakes.csv", importing.import_errors, name="import-errors"),
]

from django.urls import path

from apps.editions.pages import editions

app_name = "editions"
urlpatterns = [
    path("imports/<int:pk>/", editions.import_edition, name="import"),
    path("imports/<int:pk>/take/", editions.take_import, name="take-import"),
    path("decide/", editions.decide, name="decide"),
    path("snapshots/<int:pk>/", editions.snapshot_edition, name="snapshot"),
    path("snapshots/<int:pk>/take/", editions.take_snapshot, name="take-snapshot"),
    path("snapshots/<int:pk>/run-again/", editions.run_systems, name="run-again"),
]

"""The addresses of the pages and of the API."""

from django.urls import URLPattern, path

from apps.editions.api import editions as editions_api
from apps.editions.pages import editions

pages = [
    path("imports/<int:pk>/", editions.import_edition, name="import"),
    path("imports/<int:pk>/take/", editions.take_import, name="take-import"),
    path("decide/", editions.decide, name="decide"),
    path("snapshots/<int:pk>/", editions.snapshot_edition, name="snapshot"),
    path("snapshots/<int:pk>/take/", editions.take_snapshot, name="take-snapshot"),
    path("snapshots/<int:pk>/run-again/", editions.run_systems, name="run-again"),
]


def of_both(noun: str, of: type[editions_api.EditionView]) -> list[URLPattern]:
    """The endpoints that an import and a snapshot both have."""
    place = f"{noun}s/<int:pk>/"
    views = editions_api.views_of(noun, of)
    named = {what: f"{noun}-{what}" if what else noun for what in views}
    return [path(f"{place}{what}/" if what else place, view, name=named[what]) for what, view in views.items()]


api = [
    *of_both("import", editions_api.OfImport),
    path("imports/<int:pk>/take/", editions_api.ImportTake.as_view(), name="import-take"),
    *of_both("snapshot", editions_api.OfSnapshot),
    path("snapshots/<int:pk>/take/", editions_api.SnapshotTake.as_view(), name="snapshot-take"),
    path("snapshots/<int:pk>/run-again/", editions_api.SnapshotRunAgain.as_view(), name="run-again"),
]

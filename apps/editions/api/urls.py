from django.urls import URLPattern, path

from apps.editions.api import editions


def of_both(noun: str, of: type[editions.EditionView]) -> list[URLPattern]:
    """The endpoints that an import and a snapshot both have."""
    place = f"{noun}s/<int:pk>/"
    views = editions.views_of(noun, of)
    named = {what: f"{noun}-{what}" if what else noun for what in views}
    return [path(f"{place}{what}/" if what else place, view, name=named[what]) for what, view in views.items()]


app_name = "editions-api"
urlpatterns = [
    *of_both("import", editions.OfImport),
    path("imports/<int:pk>/take/", editions.ImportTake.as_view(), name="import-take"),
    *of_both("snapshot", editions.OfSnapshot),
    path("snapshots/<int:pk>/take/", editions.SnapshotTake.as_view(), name="snapshot-take"),
    path("snapshots/<int:pk>/run-again/", editions.SnapshotRunAgain.as_view(), name="run-again"),
]

from django.urls import path

from apps.gates.api import gates

app_name = "gates-api"
urlpatterns = [
    path("", gates.GateList.as_view(), name="gates"),
    path("file/<slug:gold_set>/<int:system_pk>/", gates.GateFile.as_view(), name="gates-file"),
    path("import/<slug:gold_set>/", gates.GateFileIn.as_view(), name="import-gates"),
    path("<int:pk>/", gates.GateDetail.as_view(), name="gate"),
    path("<int:pk>/replace/", gates.GateChange.as_view(), name="replace-gate"),
    path("<int:pk>/retire/", gates.GateEnd.as_view(), name="retire-gate"),
    path("<int:pk>/revoke-badge/", gates.BadgeEnd.as_view(), name="revoke-badge"),
]

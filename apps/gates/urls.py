"""The addresses of the pages and of the API."""

from django.urls import path

from apps.gates import api as gates_api
from apps.gates import pages as gates

pages = [
    path("", gates.gate_list, name="gates"),
    path("new/<slug:gold_set>/", gates.new_gate, name="new-gate"),
    path("file/<slug:gold_set>/<int:system_pk>/", gates.take_away, name="gates-file"),
    path("import/<slug:gold_set>/", gates.import_gates, name="import-gates"),
    path("<int:pk>/", gates.gate_page, name="gate"),
    path("<int:pk>/retire/", gates.retire, name="retire-gate"),
    path("<int:pk>/bound/", gates.change_bound, name="change-bound"),
    path("<int:pk>/badge/", gates.make_badge, name="make-badge"),
    path("<int:pk>/badge/revoke/", gates.revoke_badge, name="revoke-badge"),
]

api = [
    path("", gates_api.GateList.as_view(), name="gates"),
    path("file/<slug:gold_set>/<int:system_pk>/", gates_api.GateFile.as_view(), name="gates-file"),
    path("import/<slug:gold_set>/", gates_api.GateFileIn.as_view(), name="import-gates"),
    path("<int:pk>/", gates_api.GateDetail.as_view(), name="gate"),
    path("<int:pk>/replace/", gates_api.GateChange.as_view(), name="replace-gate"),
    path("<int:pk>/retire/", gates_api.GateEnd.as_view(), name="retire-gate"),
    path("<int:pk>/revoke-badge/", gates_api.BadgeEnd.as_view(), name="revoke-badge"),
]

badges = [path("badges/<str:token>.svg", gates.badge, name="badge")]

from django.urls import path

from apps.gates.pages import gates, rule_files

app_name = "gates"
urlpatterns = [
    path("", gates.gate_list, name="gates"),
    path("new/<slug:gold_set>/", gates.new_gate, name="new-gate"),
    path("file/<slug:gold_set>/<int:system_pk>/", rule_files.take_away, name="gates-file"),
    path("import/<slug:gold_set>/", rule_files.import_gates, name="import-gates"),
    path("<int:pk>/", gates.gate_page, name="gate"),
    path("<int:pk>/retire/", gates.retire, name="retire-gate"),
    path("<int:pk>/bound/", gates.change_bound, name="change-bound"),
    path("<int:pk>/badge/", gates.make_badge, name="make-badge"),
    path("<int:pk>/badge/revoke/", gates.revoke_badge, name="revoke-badge"),
]

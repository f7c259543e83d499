from django.urls import path

from apps.evaluation import gate_file_views, gate_views

urlpatterns = [
    path("", gate_views.gate_list, name="gates"),
    path("new/<slug:gold_set>/", gate_views.new_gate, name="new-gate"),
    path("file/<slug:gold_set>/<int:system_pk>/", gate_file_views.take_away, name="gates-file"),
    path("import/<slug:gold_set>/", gate_file_views.take_in, name="import-gates"),
    path("<int:pk>/", gate_views.gate_page, name="gate"),
    path("<int:pk>/retire/", gate_views.retire, name="retire-gate"),
    path("<int:pk>/badge/", gate_views.make_badge, name="make-badge"),
    path("<int:pk>/badge/revoke/", gate_views.revoke_badge, name="revoke-badge"),
]

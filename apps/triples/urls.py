from django.urls import path

from apps.triples import views

app_name = "triples"
urlpatterns = [
    path("", views.triples, name="list"),
    path("mine/", views.mine, name="mine"),
    path("refresh/", views.refresh, name="refresh"),
    path("bench/", views.bench, name="bench"),
    path("bench/save/", views.save, name="save_new"),
    path("bench/checks/", views.checks, name="checks_new"),
    path("bench/find/", views.find, name="find"),
    path("bench/blocks/<int:block_id>/", views.block, name="block"),
    path("<int:pk>/bench/", views.edit, name="edit"),
    path("<int:pk>/save/", views.save, name="save"),
    path("<int:pk>/checks/", views.checks, name="checks"),
    path("<int:pk>/withdraw/", views.withdraw, name="withdraw"),
    path("<int:pk>/reopen/", views.reopen, name="reopen"),
    path("<int:pk>/retire/", views.retire, name="retire"),
]

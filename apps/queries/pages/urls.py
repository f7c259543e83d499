from django.urls import path

from apps.queries.pages import views

app_name = "queries"

urlpatterns = [
    path("", views.query_list, name="list"),
    path("new/", views.query_new, name="new"),
    path("change/", views.change, name="change"),
    path("balance/", views.balance, name="balance"),
    path("sources/", views.source_list, name="sources"),
    path("sources/new/", views.source_new, name="source-new"),
    path("sources/<int:pk>/", views.source_page, name="source"),
    path("sources/<int:pk>/edit/", views.source_edit, name="source-edit"),
    path("sources/<int:pk>/permissions/", views.permission_grant, name="grant"),
    path("permissions/<int:pk>/revoke/", views.permission_revoke, name="revoke"),
    path("<int:pk>/", views.query_page, name="query"),
    path("<int:pk>/edit/", views.query_edit, name="edit"),
    path("<int:pk>/retire/", views.query_retire, name="retire"),
]

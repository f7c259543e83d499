from django.urls import path

from apps.jobs import notification_views as views

app_name = "notifications"
urlpatterns = [
    path("", views.notification_list, name="list"),
    path("read/", views.read_all, name="read-all"),
    path("<int:pk>/open/", views.open_one, name="open"),
]

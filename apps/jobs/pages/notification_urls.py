from django.urls import path

from apps.jobs.pages import notifications as views

app_name = "notifications"
urlpatterns = [
    path("", views.notification_list, name="list"),
    path("read/", views.read_all, name="read-all"),
    path("<int:pk>/open/", views.open_one, name="open"),
]

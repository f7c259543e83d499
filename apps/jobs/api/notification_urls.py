from django.urls import path

from apps.jobs.api import notifications as api

app_name = "notifications-api"
urlpatterns = [
    path("", api.NotificationList.as_view(), name="list"),
    path("read-all/", api.NotificationReadAll.as_view(), name="read-all"),
    path("<int:pk>/read/", api.NotificationRead.as_view(), name="read"),
]

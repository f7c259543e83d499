from django.urls import path

from apps.jobs import notification_api as api

app_name = "notifications-api"
urlpatterns = [
    path("", api.NotificationList.as_view(), name="list"),
    path("<int:pk>/read/", api.NotificationRead.as_view(), name="read"),
]

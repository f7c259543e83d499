from django.urls import path

from apps.jobs import api

app_name = "jobs-api"
urlpatterns = [
    path("<int:pk>/", api.JobDetail.as_view(), name="job"),
    path("<int:pk>/cancel/", api.JobCancel.as_view(), name="job-cancel"),
]

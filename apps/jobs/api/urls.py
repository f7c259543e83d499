from django.urls import path

from apps.jobs.api import jobs

app_name = "jobs-api"
urlpatterns = [
    path("<int:pk>/", jobs.JobDetail.as_view(), name="job"),
    path("<int:pk>/cancel/", jobs.JobCancel.as_view(), name="job-cancel"),
]

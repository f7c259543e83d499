from django.urls import path

from apps.jobs.api import jobs

app_name = "jobs-api"
urlpatterns = [
    path("", jobs.JobList.as_view(), name="jobs"),
    path("deliveries/", jobs.DeliveryList.as_view(), name="deliveries"),
    path("deliveries/<int:pk>/send-again/", jobs.DeliverySendAgain.as_view(), name="send-again"),
    path("<int:pk>/", jobs.JobDetail.as_view(), name="job"),
    path("<int:pk>/cancel/", jobs.JobCancel.as_view(), name="job-cancel"),
    path("<int:pk>/retry/", jobs.JobRetry.as_view(), name="job-retry"),
]

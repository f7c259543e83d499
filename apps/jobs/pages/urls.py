from django.urls import path

from apps.jobs.pages import jobs, webhooks

app_name = "jobs"
urlpatterns = [
    path("", jobs.job_list, name="list"),
    path("<int:pk>/", jobs.job_page, name="job"),
    path("<int:pk>/progress/", jobs.progress, name="progress"),
    path("<int:pk>/cancel/", jobs.cancel, name="cancel"),
    path("<int:pk>/retry/", jobs.retry, name="retry"),
    path("webhooks/", webhooks.webhook_list, name="webhooks"),
    path("webhooks/<int:pk>/try/", webhooks.try_one, name="try-webhook"),
    path("webhooks/<int:pk>/secret/", webhooks.change_secret, name="change-secret"),
    path("webhooks/<int:pk>/enable/", webhooks.enable, name="enable-webhook"),
    path("webhooks/<int:pk>/end/", webhooks.end, name="end-webhook"),
    path("webhooks/messages/", webhooks.deliveries, name="deliveries"),
    path("webhooks/messages/<int:pk>/again/", webhooks.send_again, name="send-again"),
]

"""The addresses of the pages and of the API."""

from django.urls import path

from apps.jobs import api as views
from apps.jobs.pages import jobs, webhooks

pages = [
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

api = [
    path("", views.JobList.as_view(), name="jobs"),
    path("deliveries/", views.DeliveryList.as_view(), name="deliveries"),
    path("deliveries/<int:pk>/send-again/", views.DeliverySendAgain.as_view(), name="send-again"),
    path("<int:pk>/", views.JobDetail.as_view(), name="job"),
    path("<int:pk>/cancel/", views.JobCancel.as_view(), name="job-cancel"),
    path("<int:pk>/retry/", views.JobRetry.as_view(), name="job-retry"),
]

mail_pages = [path("profile/mail/", jobs.mail_choice, name="choice")]

notification_pages = [
    path("", jobs.notification_list, name="list"),
    path("read/", jobs.read_all, name="read-all"),
    path("<int:pk>/open/", jobs.open_one, name="open"),
]

server_webhook_pages = [
    path("", webhooks.server_deliveries, name="deliveries"),
    path("try/", webhooks.try_server, name="try"),
    path("<int:pk>/again/", webhooks.send_to_server_again, name="send-again"),
]

notification_api = [
    path("", views.NotificationList.as_view(), name="list"),
    path("read-all/", views.NotificationReadAll.as_view(), name="read-all"),
    path("<int:pk>/read/", views.NotificationRead.as_view(), name="read"),
]

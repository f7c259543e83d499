from django.urls import path

from apps.jobs.pages import server_webhook

app_name = "server-webhook"
urlpatterns = [
    path("", server_webhook.deliveries, name="deliveries"),
    path("try/", server_webhook.try_it, name="try"),
    path("<int:pk>/again/", server_webhook.send_again, name="send-again"),
]

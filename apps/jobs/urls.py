from django.urls import path

from apps.jobs import views, webhook_views

app_name = "jobs"
urlpatterns = [
    path("", views.job_list, name="list"),
    path("<int:pk>/", views.job_page, name="job"),
    path("<int:pk>/progress/", views.progress, name="progress"),
    path("<int:pk>/cancel/", views.cancel, name="cancel"),
    path("<int:pk>/retry/", views.retry, name="retry"),
    path("webhooks/", webhook_views.webhook_list, name="webhooks"),
    path("webhooks/<int:pk>/try/", webhook_views.try_one, name="try-webhook"),
    path("webhooks/<int:pk>/end/", webhook_views.end, name="end-webhook"),
    path("webhooks/messages/<int:pk>/again/", webhook_views.send_again, name="send-again"),
]

from django.urls import path

from apps.jobs import notification_views as views

app_name = "mail"
urlpatterns = [path("profile/mail/", views.mail_choice, name="choice")]

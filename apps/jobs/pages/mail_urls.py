from django.urls import path

from apps.jobs.pages import notifications as views

app_name = "mail"
urlpatterns = [path("profile/mail/", views.mail_choice, name="choice")]

"""The addresses of the pages."""

from django.urls import path

from apps.audit.pages import views

pages = [path("", views.event_list, name="list")]

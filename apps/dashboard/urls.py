from django.urls import path

from apps.dashboard import views

app_name = "dashboard"
urlpatterns = [
    path("", views.projects, name="projects"),
    path("p/<slug:slug>/", views.home, name="home"),
    path("p/<slug:slug>/settings/", views.settings, name="settings"),
]

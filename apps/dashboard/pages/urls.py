from django.urls import path

from apps.dashboard.pages import demo as demo_views
from apps.dashboard.pages import views

app_name = "dashboard"
urlpatterns = [
    path("", views.projects, name="projects"),
    path("demo/", demo_views.load, name="load-demo"),
    path("p/<slug:slug>/", views.home, name="home"),
    path("p/<slug:slug>/settings/", views.settings, name="settings"),
]

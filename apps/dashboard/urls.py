from django.urls import path

from apps.dashboard import views
from apps.dashboard.demo import views as demo_views

app_name = "dashboard"
urlpatterns = [
    path("", views.projects, name="projects"),
    path("demo/", demo_views.load, name="load-demo"),
    path("p/<slug:slug>/", views.home, name="home"),
    path("p/<slug:slug>/settings/", views.settings, name="settings"),
]

from django.urls import path

from apps.calibration.api import views

app_name = "calibration-api"
urlpatterns = [
    path("log/", views.LogView.as_view(), name="log"),
    path("rates/", views.RatesView.as_view(), name="rates"),
]

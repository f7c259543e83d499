from django.urls import path

from apps.agreement import api

app_name = "agreement-api"
urlpatterns = [
    path("", api.AgreementView.as_view(), name="agreement"),
    path("log/", api.LogView.as_view(), name="log"),
    path("rates/", api.RatesView.as_view(), name="rates"),
]

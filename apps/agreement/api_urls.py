from django.urls import path

from apps.agreement import api

app_name = "agreement-api"
urlpatterns = [path("", api.AgreementView.as_view(), name="agreement")]

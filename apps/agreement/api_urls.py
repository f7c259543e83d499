from django.urls import path

from apps.agreement import api, grades_api

app_name = "agreement-api"
urlpatterns = [
    path("", api.AgreementView.as_view(), name="agreement"),
    path("pairs/", grades_api.PairsView.as_view(), name="pairs"),
    path("where/", grades_api.WhereView.as_view(), name="where"),
    path("tighten/", grades_api.TightenView.as_view(), name="tighten"),
    path("people/<int:person>/", grades_api.PersonView.as_view(), name="person"),
    path("log/", api.LogView.as_view(), name="log"),
    path("rates/", api.RatesView.as_view(), name="rates"),
]

from django.urls import path

from apps.agreement.api import grades

app_name = "agreement-api"
urlpatterns = [
    path("", grades.AgreementView.as_view(), name="agreement"),
    path("pairs/", grades.PairsView.as_view(), name="pairs"),
    path("where/", grades.WhereView.as_view(), name="where"),
    path("tighten/", grades.TightenView.as_view(), name="tighten"),
    path("people/<int:person>/", grades.PersonView.as_view(), name="person"),
]

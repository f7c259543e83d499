from django.urls import path

from apps.agreement.api import grades

app_name = "agreement-api"
urlpatterns = [
    path("", grades.AgreementView.as_view(), name="agreement"),
    path("pairs/", grades.PairsView.as_view(), name="pairs"),
    path("differences/", grades.WhereView.as_view(), name="differences"),
    path("improve/", grades.TightenView.as_view(), name="improve"),
    path("people/<int:person>/", grades.PersonView.as_view(), name="person"),
]

"""The addresses of the pages and of the API."""

from django.urls import path

from apps.agreement.api import grades
from apps.agreement.pages import breakdowns, overview, people

pages = [
    path("", overview.overview, name="overview"),
    path("subtopics.csv", overview.subtopics_file, name="subtopics-file"),
    path("pair/<int:first>/<int:second>/", overview.pair, name="pair"),
    path("differences/", breakdowns.where, name="differences"),
    path("improve/", breakdowns.tighten, name="improve"),
    path("items/", breakdowns.items, name="items"),
    path("people/", people.people, name="people"),
    path("people/<int:person>/", people.person, name="person"),
]

api = [
    path("", grades.AgreementView.as_view(), name="agreement"),
    path("pairs/", grades.PairsView.as_view(), name="pairs"),
    path("differences/", grades.WhereView.as_view(), name="differences"),
    path("improve/", grades.TightenView.as_view(), name="improve"),
    path("people/<int:person>/", grades.PersonView.as_view(), name="person"),
]

from django.urls import path

from apps.agreement.pages import breakdowns, overview, people

app_name = "agreement"
urlpatterns = [
    path("", overview.overview, name="overview"),
    path("pair/<int:first>/<int:second>/", overview.pair, name="pair"),
    path("differences/", breakdowns.where, name="differences"),
    path("improve/", breakdowns.tighten, name="improve"),
    path("items/", breakdowns.items, name="items"),
    path("people/", people.people, name="people"),
    path("people/<int:person>/", people.person, name="person"),
]

from django.urls import path

from apps.agreement import views

app_name = "agreement"
urlpatterns = [
    path("", views.overview, name="overview"),
    path("pair/<int:first>/<int:second>/", views.pair, name="pair"),
]

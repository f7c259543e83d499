from django.urls import path

from apps.agreement import calibration_pages, person_pages, tracker_pages, views, where_pages

app_name = "agreement"
urlpatterns = [
    path("", views.overview, name="overview"),
    path("pair/<int:first>/<int:second>/", views.pair, name="pair"),
    path("where/", where_pages.where, name="where"),
    path("tighten/", where_pages.tighten, name="tighten"),
    path("items/", where_pages.items, name="items"),
    path("people/", person_pages.people, name="people"),
    path("people/<int:person>/", person_pages.person, name="person"),
    path("log/", tracker_pages.quality_log, name="log"),
    path("log/download/", tracker_pages.download_log, name="log-download"),
    path("rates/", tracker_pages.flag_rates, name="rates"),
    path("calibration/", calibration_pages.listing, name="calibrations"),
    path("calibration/open/", calibration_pages.open_one, name="calibration-open"),
    path("calibration/check/", calibration_pages.check, name="calibration-check"),
    path("calibration/<int:number>/", calibration_pages.calibration, name="calibration"),
    path("calibration/<int:number>/message/", calibration_pages.message, name="calibration-message"),
    path("calibration/<int:number>/close/", calibration_pages.close, name="calibration-close"),
    path("calibration/<int:number>/item/<int:place>/", calibration_pages.screen, name="calibration-item"),
    path("calibration/<int:number>/item/<int:place>/answer/", calibration_pages.answer, name="calibration-answer"),
]

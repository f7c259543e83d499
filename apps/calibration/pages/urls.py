from django.urls import path

from apps.calibration.pages import calibrations, tracker

app_name = "calibration"
urlpatterns = [
    path("log/", tracker.quality_log, name="log"),
    path("log/download/", tracker.download_log, name="log-download"),
    path("rates/", tracker.flag_rates, name="rates"),
    path("calibration/", calibrations.listing, name="calibrations"),
    path("calibration/open/", calibrations.open_one, name="open"),
    path("calibration/check/", calibrations.check, name="check"),
    path("calibration/<int:number>/", calibrations.calibration, name="calibration"),
    path("calibration/<int:number>/message/", calibrations.message, name="message"),
    path("calibration/<int:number>/close/", calibrations.close, name="close"),
    path("calibration/<int:number>/item/<int:place>/", calibrations.screen, name="item"),
    path("calibration/<int:number>/item/<int:place>/answer/", calibrations.answer, name="answer"),
]

"""The addresses of the pages and of the API."""

from django.urls import path

from apps.calibration.api import calibrations as calibrations_api
from apps.calibration.pages import calibrations, tracker

pages = [
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

api = [
    path("log/", calibrations_api.LogView.as_view(), name="log"),
    path("rates/", calibrations_api.RatesView.as_view(), name="rates"),
    path("calibrations/", calibrations_api.CalibrationList.as_view(), name="calibrations"),
    path("calibrations/check/", calibrations_api.CheckView.as_view(), name="check"),
    path("calibrations/<int:number>/", calibrations_api.CalibrationDetail.as_view(), name="calibration"),
    path("calibrations/<int:number>/message/", calibrations_api.CalibrationMessageView.as_view(), name="message"),
    path("calibrations/<int:number>/close/", calibrations_api.CloseView.as_view(), name="close"),
    path("calibrations/<int:number>/items/", calibrations_api.ItemList.as_view(), name="items"),
    path("calibrations/<int:number>/items/<int:place>/answer/", calibrations_api.AnswerView.as_view(), name="answer"),
]

from django.urls import path

from apps.calibration.api import calibrations

app_name = "calibration-api"
urlpatterns = [
    path("log/", calibrations.LogView.as_view(), name="log"),
    path("rates/", calibrations.RatesView.as_view(), name="rates"),
    path("calibrations/", calibrations.CalibrationList.as_view(), name="calibrations"),
    path("calibrations/check/", calibrations.CheckView.as_view(), name="check"),
    path("calibrations/<int:number>/", calibrations.CalibrationDetail.as_view(), name="calibration"),
    path("calibrations/<int:number>/message/", calibrations.CalibrationMessageView.as_view(), name="message"),
    path("calibrations/<int:number>/close/", calibrations.CloseView.as_view(), name="close"),
    path("calibrations/<int:number>/items/", calibrations.ItemList.as_view(), name="items"),
    path("calibrations/<int:number>/items/<int:place>/answer/", calibrations.AnswerView.as_view(), name="answer"),
]

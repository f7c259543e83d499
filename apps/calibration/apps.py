from django.apps import AppConfig


class CalibrationConfig(AppConfig):
    name = "apps.calibration"
    label = "calibration"

    def ready(self) -> None:
        from apps.calibration.selectors import sealed
        from apps.calibration.selectors.calibrations import blinded_among, blinded_triples
        from apps.jobs.selectors.hidden_objects import add_hidden
        from apps.review.selectors.blinding import add_blinding

        sealed.register()
        add_blinding(blinded_among)
        add_hidden(blinded_triples)

from django.apps import AppConfig


class CalibrationConfig(AppConfig):
    name = "apps.calibration"
    label = "calibration"

    def ready(self) -> None:
        from apps.calibration.selectors import sealed
        from apps.calibration.selectors.calibrations import veiled_among, veiled_triples
        from apps.jobs.selectors.hidden_objects import add_curtain
        from apps.review.selectors.blinding import add_veil

        sealed.register()
        add_veil(veiled_among)
        add_curtain(veiled_triples)

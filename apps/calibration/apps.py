from django.apps import AppConfig


class CalibrationConfig(AppConfig):
    name = "apps.calibration"
    label = "calibration"

    def ready(self) -> None:
        from apps.accounts.execution.leaving import on_leaving
        from apps.calibration.selectors import calibrations
        from apps.common.discovery import later
        from apps.jobs.selectors.jobs import hidden_objects
        from apps.review.selectors.participation import add_blinding

        calibrations.register()
        add_blinding(later("apps.calibration.selectors.calibrations.blinded_among"))
        hidden_objects.add(later("apps.calibration.selectors.calibrations.blinded_triples"))
        on_leaving(later("apps.calibration.selectors.calibrations.held_calibrations"))

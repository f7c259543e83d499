from django.apps import AppConfig


class AgreementConfig(AppConfig):
    name = "apps.agreement"
    label = "agreement"

    def ready(self) -> None:
        from apps.agreement import sealing
        from apps.agreement.calibrations import veiled_among, veiled_triples
        from apps.jobs.curtains import add_curtain
        from apps.review.veils import add_veil

        sealing.register()
        add_veil(veiled_among)
        add_curtain(veiled_triples)

from django.apps import AppConfig


class JudgingConfig(AppConfig):
    name = "apps.judging"
    label = "judging"

    def ready(self) -> None:
        from apps.judging import sealing
        from apps.judging.selectors.rounds import is_judging_from
        from apps.retrieval.blinding import ask

        sealing.register()
        ask(is_judging_from)

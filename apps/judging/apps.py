from django.apps import AppConfig


class JudgingConfig(AppConfig):
    name = "apps.judging"
    label = "judging"

    def ready(self) -> None:
        from apps.judging import sealing

        sealing.register()

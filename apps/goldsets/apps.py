from django.apps import AppConfig


class GoldsetsConfig(AppConfig):
    name = "apps.goldsets"
    label = "goldsets"

    def ready(self) -> None:
        from apps.audit.registry import digest_check
        from apps.goldsets.integrity import faults_in

        digest_check("versions", faults_in)

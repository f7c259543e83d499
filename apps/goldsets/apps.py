from django.apps import AppConfig


class GoldsetsConfig(AppConfig):
    name = "apps.goldsets"
    label = "goldsets"

    def ready(self) -> None:
        from apps.audit.selectors.sealed_kinds import digest_check
        from apps.goldsets.execution.integrity import faults_in

        digest_check("versions", faults_in)

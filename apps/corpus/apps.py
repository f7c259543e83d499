from django.apps import AppConfig


class CorpusConfig(AppConfig):
    name = "apps.corpus"
    label = "corpus"

    def ready(self) -> None:
        from apps.audit.selectors.events import digest_check
        from apps.common.discovery import later

        digest_check("snapshots", later("apps.corpus.selectors.snapshots.faults_in"))

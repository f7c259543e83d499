from django.apps import AppConfig


class CorpusConfig(AppConfig):
    name = "apps.corpus"
    label = "corpus"

    def ready(self) -> None:
        from apps.audit.registry import digest_check
        from apps.corpus.integrity import faults_in

        digest_check("snapshots", faults_in)

from django.apps import AppConfig


class CorpusConfig(AppConfig):
    name = "apps.corpus"
    label = "corpus"

    def ready(self) -> None:
        from apps.audit.selectors.sealed_kinds import digest_check
        from apps.corpus.selectors.integrity import faults_in

        digest_check("snapshots", faults_in)

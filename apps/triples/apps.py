from django.apps import AppConfig


class TriplesConfig(AppConfig):
    name = "apps.triples"
    label = "triples"

    def ready(self) -> None:
        from apps.corpus.execution.freezing import after_freezing
        from apps.triples.actions.triples import compare_with_snapshot

        after_freezing(compare_with_snapshot)

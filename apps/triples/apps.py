from django.apps import AppConfig


class TriplesConfig(AppConfig):
    name = "apps.triples"
    label = "triples"

    def ready(self) -> None:
        from apps.corpus.execution.freezing import after_freezing
        from apps.retrieval.selectors.question_sets import also_named
        from apps.triples.actions.triples import compare_with_snapshot
        from apps.triples.selectors.asked import asked_by_label

        after_freezing(compare_with_snapshot)
        also_named(asked_by_label)

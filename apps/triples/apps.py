from django.apps import AppConfig


class TriplesConfig(AppConfig):
    name = "apps.triples"
    label = "triples"

    def ready(self) -> None:
        from apps.corpus.execution.freezing import after_freezing
        from apps.queries.execution.revoking import rests_on_permissions
        from apps.retrieval.selectors.question_sets import also_named
        from apps.triples.actions.triples import TriplesOnPermissions, compare_with_snapshot
        from apps.triples.selectors.asked import asked_by_label

        after_freezing(compare_with_snapshot)
        rests_on_permissions(TriplesOnPermissions())
        also_named(asked_by_label)

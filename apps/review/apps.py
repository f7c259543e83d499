from django.apps import AppConfig


class ReviewConfig(AppConfig):
    name = "apps.review"
    label = "review"

    def ready(self) -> None:
        from apps.retrieval.selectors.blinding import add_query_check
        from apps.review.selectors import sealed
        from apps.review.selectors.hidden_results import results_hidden_from

        sealed.register()
        add_query_check(results_hidden_from)

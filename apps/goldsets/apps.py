from django.apps import AppConfig


class GoldsetsConfig(AppConfig):
    name = "apps.goldsets"
    label = "goldsets"

    def ready(self) -> None:
        from apps.audit.selectors.events import digest_check
        from apps.common.discovery import later
        from apps.goldsets.enums import SliceKind
        from apps.goldsets.selectors.slices import disputed_in, finds_for
        from apps.jobs.selectors.notification_lines import ToldTogether, told_together
        from apps.judging.selectors.propagation import add_dependent_check
        from apps.queries.actions.sources import rests_on_permissions
        from apps.retrieval.selectors.question_sets import QuestionSets, offered_sets
        from apps.triples.selectors.imported import rests_on_accepted

        told_together.add(ToldTogether("version.due", "gold sets are due for a refresh.", "goldsets:list"))
        told_together.add(ToldTogether("version.released", "versions were released.", "goldsets:list"))
        rests_on_accepted.add(later("apps.goldsets.selectors.versions.version_with"))
        rests_on_permissions(later("apps.goldsets.execution.revoked.VersionsOnPermissions"))
        digest_check("versions", later("apps.goldsets.execution.exporting.faults_in"))
        digest_check("public releases", later("apps.goldsets.execution.publishing.public_faults"))
        add_dependent_check(later("apps.goldsets.selectors.versions.version_resting_on"))
        offered = later("apps.goldsets.selectors.questions.sets_offered")
        offered_sets.add(QuestionSets(offered, later("apps.goldsets.selectors.questions.set_named")))
        finds_for(SliceKind.CHALLENGE, disputed_in)

from django.apps import AppConfig


class GoldsetsConfig(AppConfig):
    name = "apps.goldsets"
    label = "goldsets"

    def ready(self) -> None:
        from apps.audit.selectors.sealed_kinds import digest_check
        from apps.goldsets.enums import SliceKind
        from apps.goldsets.execution.integrity import faults_in
        from apps.goldsets.execution.public_files import public_faults
        from apps.goldsets.execution.revoked import VersionsOnPermissions
        from apps.goldsets.selectors.questions import QUESTION_SETS
        from apps.goldsets.selectors.resting import version_resting_on
        from apps.goldsets.selectors.slices import disputed_in, finds_for
        from apps.judging.selectors.resting import add_resting_check
        from apps.queries.execution.revoking import rests_on_permissions
        from apps.retrieval.selectors.question_sets import offer_question_sets

        rests_on_permissions(VersionsOnPermissions())
        digest_check("versions", faults_in)
        digest_check("public releases", public_faults)
        add_resting_check(version_resting_on)
        offer_question_sets(QUESTION_SETS)
        finds_for(SliceKind.CHALLENGE, disputed_in)

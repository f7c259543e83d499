"""The public release of the first version: one lead has prepared it, and asks the host to read and sign it."""

from apps.corpus.actions.publishing import allow_public_texts
from apps.dashboard.execution.demo.stage import Stage, finish
from apps.goldsets.actions.public import ask_to_sign, prepare_public_release
from apps.goldsets.enums import Split
from apps.goldsets.formats.public.files import Order
from apps.goldsets.models import Version

ORDER = Order("Tarnwick handbook questions", "Tarnwick", "CC-BY-4.0", (Split.DEV.value,))


def prepare_public_release_of_first(stage: Stage) -> None:
    version = Version.objects.get(gold_set__project=stage.project, number=1)
    corpus = stage.frozen().corpus
    allow_public_texts(
        corpus_id=corpus.pk,
        owner="Tarnwick",
        evidence="The handbooks are made up, for this demo.",
        actor=stage.lead,
        at=stage.at(48.5),
    )
    release = prepare_public_release(version_id=version.pk, order=ORDER, actor=stage.lead, at=stage.at(48.6))
    finish(release.job, at=stage.at(48.6))
    ask_to_sign(release_id=release.pk, lead=stage.host, actor=stage.lead, at=stage.at(48.7))

"""What a version's page says of the systems that were scored on earlier versions, on older snapshots."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from apps.evaluation.selectors.run_again import FormerRun, RunAgain, run_again_of
from apps.goldsets.enums import VersionState
from apps.goldsets.models import Version
from apps.goldsets.presenters import VersionPanel
from apps.goldsets.selectors.questions import questions_of
from apps.jobs.models import Job
from apps.retrieval.enums import RunState
from apps.retrieval.models import Run

MOST_NAMED = 5


@dataclass
class SystemsAgain:
    """The systems of earlier versions on the newer snapshot of a version, in sentences and their links."""

    version: Version
    again: RunAgain

    @property
    def is_released(self) -> bool:
        return self.version.state == VersionState.RELEASED

    @property
    def is_frozen(self) -> bool:
        return self.version.state == VersionState.FROZEN

    @property
    def complete(self) -> list[Run]:
        return self._in(RunState.COMPLETE)

    @property
    def failed(self) -> list[Run]:
        return self._in(RunState.FAILED)

    @property
    def pending(self) -> list[Run]:
        return self._in(RunState.PENDING)

    @property
    def complete_words(self) -> str:
        """ "BM25 and TF-IDF were run again on Autumn, since v1 was on Spring"."""
        return self._ran(self.complete, "was", "were")

    @property
    def pending_words(self) -> str:
        return self._ran(self.pending, "is being", "are being")

    @property
    def pending_job(self) -> Job | None:
        return self.pending[-1].job if self.pending else None

    @property
    def own_words(self) -> str:
        """What a release would do, or what it had no chance to."""
        own = self.again.own
        names, there = names_of(one.system.name for one in own), self.version.snapshot.name
        if self.is_frozen:
            verb = "is" if len(own) == 1 else "are"
            return f"When {self.version.label} is released, {names} {verb} run again on {there}, {since(own)}"
        return f"{names} {'has' if len(own) == 1 else 'have'} not been run on {there}, and {since(own, '')}"

    @cached_property
    def questions(self) -> int:
        """How many questions a system elsewhere would be asked."""
        return len(questions_of(self.version))

    @property
    def uploaded_words(self) -> str:
        uploaded = self.again.uploaded
        if len(uploaded) == 1:
            return "1 uploaded run cannot be run again: it holds results of the older snapshot"
        return f"{len(uploaded):,} uploaded runs cannot be run again: they hold results of the older snapshot"

    @property
    def uploaded_named(self) -> list[FormerRun]:
        return self.again.uploaded[:MOST_NAMED]

    @property
    def more_uploaded(self) -> int:
        return len(self.again.uploaded) - len(self.uploaded_named)

    @property
    def has_anything(self) -> bool:
        """A superseded version shows what was run for it, and offers nothing."""
        again = self.again
        return bool(again.runs or ((again.can_be_run or again.uploaded) and (self.is_released or self.is_frozen)))

    def _in(self, state: RunState) -> list[Run]:
        return [run for run in self.again.runs if run.state == state]

    def _ran(self, runs: Sequence[Run], one: str, many: str) -> str:
        former = [self.again.former[run.system_id] for run in runs if run.system_id in self.again.former]
        names = names_of(run.system.name for run in runs)
        verb = one if len(runs) == 1 else many
        return f"{names} {verb} run again on {self.version.snapshot.name}, {since(former)}"


def names_of(names: Iterable[str]) -> str:
    """ "BM25, LSA and TF-IDF", in quotation marks where a name has a comma of its own."""
    distinct = list(dict.fromkeys(names))
    if len(distinct) > 1 and any("," in name for name in distinct):
        distinct = [f"“{name}”" for name in distinct]
    *before, last = distinct
    return f"{', '.join(before)} and {last}" if before else last


def since(former: Iterable[FormerRun], since_word: str = "since ") -> str:
    """ "since v1 was on Spring": the snapshots of the earlier versions on which these were scored."""
    places = dict.fromkeys(f"{one.version} was on {one.run.snapshot.name}" for one in former)
    return since_word + " and ".join(places)


def systems_again(version: Version) -> SystemsAgain:
    return SystemsAgain(version, run_again_of(version))


def run_again_panel(version: Version) -> VersionPanel | None:
    """The panel of a version on a newer snapshot than its predecessors; none where nothing was scored on those."""
    panel = systems_again(version)
    return VersionPanel("evaluation/_run_again.html", panel) if panel.has_anything else None

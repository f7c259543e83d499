"""What a revoked permission means for versions and public releases. They never change: they are marked where shown."""

from datetime import datetime

from django.db.models import Exists, OuterRef

from apps.accounts.models import User
from apps.goldsets.enums import PublicState, VersionState
from apps.goldsets.models import PublicRelease, Version, VersionQuery, VersionTriple
from apps.queries.actions.sources import Resting
from apps.queries.models import Source

FATES = {
    (PublicState.RELEASED,): "marked, for you to withdraw",
    (PublicState.PREPARED, PublicState.SIGNED): "marked, and can no longer go out as it is",
}


class VersionsOnPermissions:
    """Versions with items of a source, and those that are public. Exports leave the items out from then on."""

    def preview(self, source: Source) -> list[Resting]:
        frozen = Version.objects.exclude(state=VersionState.DRAFT).filter(gold_set__project=source.project_id)
        queries = VersionQuery.objects.filter(version=OuterRef("pk"), query__source=source)
        triples = VersionTriple.objects.filter(version=OuterRef("pk"))
        own, asked = triples.filter(triple__source=source), triples.filter(triple__query__source=source)
        with_items = frozen.filter(Exists(queries) | Exists(own) | Exists(asked))
        found = list(with_items.select_related("gold_set").order_by("gold_set__name", "number"))
        public = PublicRelease.objects.filter(version__in=found).select_related("version__gold_set").order_by("pk")
        rows = []
        if found:
            rows.append(Resting(_named(found), "marked, and later downloads leave its items out"))
        for states, fate in FATES.items():
            if of_state := [release.version for release in public if release.state in states]:
                rows.append(Resting(f"the public release of {_named(of_state)}", fate))
        return rows

    def act(self, source: Source, *, actor: User, at: datetime) -> list[Resting]:
        """Nothing is written: whether a permission stands is read whenever a version is shown or exported."""
        return self.preview(source)


def _named(versions: list[Version]) -> str:
    return ", ".join(str(version) for version in versions)

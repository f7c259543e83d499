"""The part of an import's form that says into which corpus, and what becomes of passages missing from the file."""

import itertools
import re
from typing import Any

from django import forms
from django.utils.text import slugify

from apps.common.web.forms import offer
from apps.corpus.enums import ImportMode
from apps.corpus.forms import ImportForm, name_after
from apps.corpus.selectors.corpora import corpora_in

NEW = "+"  # not a valid slug


class CorpusTargetForm(ImportForm):
    """A corpus of the project, or a new one; without a name it is called after the file."""

    corpus = forms.ChoiceField(label="Import into")
    name = forms.CharField(
        label="Name of the new corpus", max_length=120, required=False, help_text="Such as Staff handbook."
    )
    mode = forms.ChoiceField(
        label="Passages missing from the file",
        choices=[(ImportMode.REPLACE, "are removed: the file is the whole corpus"), (ImportMode.MERGE, "stay")],
        widget=forms.RadioSelect,
        initial=ImportMode.REPLACE,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = [(corpus.slug, corpus.name) for corpus in corpora_in(self.project)]
        offer(self, "corpus", [*known, (NEW, "a new corpus")])
        if not known:
            del self.fields["mode"]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if values.get("corpus") == NEW and self.file_name:
            values["name"] = values.get("name") or self._free_name()
            slug = slugify(values["name"])[:60]
            if not slug:
                self.add_error("name", "A new corpus needs a name with a letter or a digit in it.")
            elif corpora_in(self.project).filter(slug=slug).exists():
                self.add_error("name", f"There is already a corpus {slug}. Choose it above, or use another name.")
        values.setdefault("mode", ImportMode.REPLACE)
        return values

    @classmethod
    def kept_for_another(cls, options: dict[str, Any], file_name: str) -> dict[str, Any]:
        """All but a name that was made from the file."""
        made = re.fullmatch(rf"{re.escape(name_after(file_name))[:120]}( \d+)?", options.get("name", ""))
        return {name: value for name, value in options.items() if name != "name" or not made}

    def _free_name(self) -> str:
        """A name for the new corpus after its file, with a number when that is taken."""
        name = name_after(self.file_name)
        taken = set(corpora_in(self.project).values_list("slug", flat=True))
        names = itertools.chain([name], (f"{name[:110]} {number}" for number in itertools.count(2)))
        return next(each for each in names if slugify(each)[:60] not in taken)

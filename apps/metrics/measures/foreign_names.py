"""Names of measures in other tools with their notation here, so that an error can suggest the right one."""

from __future__ import annotations

import re

# trec_eval's, ndeval's, ranx's and other libraries' names, in lower case, hyphens as underscores, without the cutoff.
ELSEWHERE = {
    "ndcg_cut": "nDCG",
    "ndcg_burges": "nDCG(dcg='exp-log2')",
    "ndcg_exp": "nDCG(dcg='exp-log2')",
    "map_cut": "AP",
    "mean_average_precision": "AP",
    "average_precision": "AP",
    "recip_rank": "RR",
    "reciprocal_rank": "RR",
    "mean_reciprocal_rank": "RR",
    "r_precision": "Rprec",
    "r_prec": "Rprec",
    "set_p": "SetP",
    "set_recall": "SetR",
    "set_r": "SetR",
    "set_f": "SetF",
    "hit": "Success",
    "hit_rate": "Success",
    "hitrate": "Success",
    "hr": "Success",
    "prec": "P",
    "f_1": "F1",
    "f1_score": "F1",
    "s_recall": "STREC",
    "subtopic_recall": "STREC",
    "map_ia": "AP_IA",
}
# In ranx's `rbp.95` the digits after the point are no cutoff.
WITH_CUTOFF = re.compile(r"(?!rbp\.)(?P<base>.*?)[_.]?(?P<cutoff>[1-9][0-9]{0,8})")


def forms_of(name: str) -> list[tuple[str, int | None]]:
    """The possible names and cutoffs in a name of another tool, such as `ndcg_cut` and 10 of `ndcg_cut_10`.

    Names are in lower case, hyphens as underscores; the whole name comes first.
    """
    plain = name.lower().replace("-", "_")
    forms: list[tuple[str, int | None]] = [(plain, None)]
    match = WITH_CUTOFF.fullmatch(plain)
    if match and match["base"]:
        forms.append((match["base"], int(match["cutoff"])))
    return forms

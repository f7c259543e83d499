"""On the page of an import: what of it was reviewed elsewhere, and what a lead can do with that."""

from typing import Any

from apps.accounts.selectors import Member
from apps.corpus.models import Import
from apps.corpus.presenters import ImportPanel
from apps.review.actions.elsewhere import running_job
from apps.review.rules import draw_refusal
from apps.review.selectors.elsewhere import a_tenth_of, drawing_order, elsewhere_sets, is_applied
from apps.triples.selectors.imported import reviewed_elsewhere


def elsewhere_panel(item: Import, member: Member) -> ImportPanel | None:
    """What a lead can do with the Q&As of an import that were reviewed elsewhere, and what is known of them."""
    if not is_applied(item):
        return None
    to_take = reviewed_elsewhere(item).count()
    found = next(iter(elsewhere_sets(member.project, [item])), None)
    if not (to_take or found):
        return None
    panel: dict[str, Any] = {"to_take": to_take, "found": found, "taken": item.result.get("taken")}
    panel["job"] = running_job(item)
    if found:
        order = drawing_order(item)
        drawn, all_of_them = len(order.drawn), len(order.drawn) + len(order.left)
        proposed = a_tenth_of(found.taken) if not drawn else min(drawn * 2, all_of_them)
        panel |= {
            "seed": order.seed,
            "least": drawn + 1,
            "most": all_of_them,
            "proposed": max(drawn + 1, min(proposed, all_of_them)),
            "draw_refusal": draw_refusal(len(order.left), drawn, drawn + 1),
        }
    return ImportPanel("review/_elsewhere.html", panel)

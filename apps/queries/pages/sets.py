"""Pages of query sets: save a filter, freeze a set, draw a sample."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.web.forms import refusals_shown
from apps.queries import selectors
from apps.queries.actions.sets import delete_set, draw_set, freeze_set, save_set
from apps.queries.forms import FilterForm, SampleForm

PAGE_SIZE = 50


@require_safe
@member_view()
def set_list(request: HttpRequest, project: Project) -> HttpResponse:
    initial = {"of": request.GET.get("of", "")}
    return _list_page(request, project, SampleForm(project=project, initial=initial))


@require_POST
@member_view(Role.LEAD)
def set_save(request: HttpRequest, project: Project) -> HttpResponse:
    """Save the filter in the address under a name."""
    filters = FilterForm(request.GET, project=project).filters()
    name = request.POST.get("name", "")[:120]
    saved = save_set(project=project, name=name, filters=filters, actor=user_of(request), at=timezone.now())
    return redirect("queries:set", slug=project.slug, pk=saved.pk)


@require_POST
@member_view(Role.LEAD)
def set_draw(request: HttpRequest, project: Project) -> HttpResponse:
    form = SampleForm(request.POST, project=project)
    if form.is_valid():
        with refusals_shown(form):
            drawn = draw_set(project=project, **form.cleaned_data, actor=user_of(request), at=timezone.now())
            return redirect("queries:set", slug=project.slug, pk=drawn.pk)
    return _list_page(request, project, form)


@require_safe
@member_view()
def set_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    saved = selectors.set_in(project, pk)
    context = {
        "saved": saved,
        "size": selectors.sizes_of_sets([saved])[saved.pk],
        "page": Paginator(selectors.queries_of_set(saved), PAGE_SIZE).get_page(request.GET.get("page")),
        "filters": FilterForm.words_of(saved, project),
    }
    return render(request, "queries/set.html", context)


@require_POST
@member_view(Role.LEAD)
def set_freeze(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    saved = freeze_set(set_id=selectors.set_in(project, pk).pk, actor=user_of(request), at=timezone.now())
    messages.success(request, f"{saved.name} is frozen. Its list and the words of its queries never change.")
    return redirect("queries:set", slug=project.slug, pk=pk)


@require_POST
@member_view(Role.LEAD)
def set_delete(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    delete_set(set_id=selectors.set_in(project, pk).pk, actor=user_of(request), at=timezone.now())
    messages.success(request, "Deleted. Its queries stay.")
    return redirect("queries:sets", slug=project.slug)


def _list_page(request: HttpRequest, project: Project, form: SampleForm) -> HttpResponse:
    sets = list(selectors.sets_in(project))
    sizes = selectors.sizes_of_sets(sets)
    rows = [(saved, sizes[saved.pk]) for saved in sets]
    status = 400 if form.errors else 200
    return render(request, "queries/sets.html", {"form": form, "rows": rows}, status=status)

import pytest
from django.urls import reverse

from apps.retrieval.core.engines import encoder
from apps.retrieval.enums import RunState
from apps.retrieval.models import System
from apps.retrieval.rules import SystemRefused
from apps.retrieval.selectors.systems import indexed_in
from tests.reading import plain_words
from tests.retrieval.factories import make_run, make_system
from tests.retrieval.tiny_models import make_model, needs_packages

pytestmark = pytest.mark.django_db

VALUES = {
    "name": "Tiny",
    "words": "text",
    "p_model": "tiny",
    "p_pooling": "mean",
    "p_query_prefix": "query: ",
    "p_passage_prefix": "",
    "p_max_tokens": "64",
}


@pytest.fixture(autouse=True)
def models(settings, tmp_path):
    settings.DATA_DIR, settings.MODELS_DIR = tmp_path, tmp_path / "models"
    make_model(settings.MODELS_DIR / "tiny")
    encoder.encoder_of.cache_clear()
    yield settings.MODELS_DIR
    encoder.encoder_of.cache_clear()


def new_dense(project):
    return reverse("retrieval:new-system", args=[project.slug]) + "?kind=dense"


def test_a_dense_system_is_made_from_a_folder_that_is_there(lead, project, with_packages):
    made = lead.post(new_dense(project), VALUES)

    system = System.objects.get()
    assert made.url == reverse("retrieval:system", args=[project.slug, system.pk])
    assert system.config["engine"]["model"] == "tiny"
    assert system.config["engine"]["query_prefix"] == "query: "
    assert len(system.config["engine"]["sha256"]) == 64
    assert system.config["engine"]["sha256"] in plain_words(lead.get(made.url))


def test_the_page_of_a_system_stays_when_packages_and_model_are_gone(lead, project, models, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(encoder, "PACKAGES", ())
        system = make_system(project, "Tiny", "dense", model="tiny")
    models.rename(models.parent / "elsewhere")

    assert lead.get(reverse("retrieval:system", args=[project.slug, system.pk])).status_code == 200


@pytest.mark.parametrize("name", ["../models/tiny", "other", ""])
def test_a_folder_that_is_not_offered_cannot_be_named(lead, project, with_packages, name):
    answer = lead.post(new_dense(project), {**VALUES, "p_model": name})

    assert answer.status_code == 400
    assert not System.objects.exists()
    with pytest.raises(SystemRefused, match="Choose one of tiny"):
        make_system(project, "Tiny", "dense", model=name)


def test_another_model_under_the_same_name_is_another_system(project, models, with_packages):
    first = make_system(project, "Tiny", "dense", model="tiny")
    with pytest.raises(SystemRefused, match="Tiny already has exactly this configuration"):
        make_system(project, "Tiny 2", "dense", model="tiny")
    make_model(models / "tiny", seed=1)

    assert make_system(project, "Tiny 2", "dense", model="tiny").digest != first.digest


def test_the_form_says_how_to_get_the_packages(lead, project, without_packages):
    page = plain_words(lead.get(new_dense(project)))

    assert "Ask the operator to install <code>karat[dense]</code>" in page
    assert "Create system" not in page
    assert lead.post(new_dense(project), VALUES).status_code == 400
    with pytest.raises(SystemRefused, match=r"Install karat\[dense\]"):
        make_system(project, "Tiny", "dense", model="tiny")


def test_the_form_says_where_models_go_when_there_is_none(lead, project, models, with_packages):
    models.rename(models.parent / "elsewhere")

    page = plain_words(lead.get(new_dense(project)))

    assert "No model yet" in page
    assert "Create system" not in page


def test_a_run_without_the_packages_fails_and_says_how_to_get_them(project, snapshot, monkeypatch):
    monkeypatch.setattr(encoder, "PACKAGES", ())
    system = make_system(project, "Tiny", "dense", model="tiny")
    monkeypatch.setattr(encoder, "PACKAGES", ("a_package_that_is_not_there",))

    run = make_run(project, snapshot, system)

    assert run.state == RunState.FAILED
    assert "Install karat[dense]" in run.failure


def test_no_model_is_loaded_inside_a_request(project, with_packages):
    make_system(project, "Tiny", "dense", model="tiny")
    lexical = make_system(project)

    assert list(indexed_in(project)) == [lexical]


@needs_packages
def test_a_dense_system_runs_over_a_snapshot(project, snapshot):
    run = make_run(project, snapshot, make_system(project, "Tiny", "dense", model="tiny"))

    assert (run.state, run.query_count, run.failure) == (RunState.COMPLETE, 3, "")
    assert run.rankings.get(query__outside_id="Q01").length > 0


@needs_packages
def test_its_index_is_refused_when_the_model_was_replaced(project, snapshot, models):
    system = make_system(project, "Tiny", "dense", model="tiny")
    make_run(project, snapshot, system)
    make_model(models / "tiny", seed=1)
    encoder.encoder_of.cache_clear()

    run = make_run(project, snapshot, system)

    assert run.state == RunState.FAILED
    assert "The files of the model tiny have changed since the system was created" in run.failure
    renewed = make_run(project, snapshot, make_system(project, "Tiny 2", "dense", model="tiny"))
    assert renewed.state == RunState.COMPLETE

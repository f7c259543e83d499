"""What an agent can do, what it cannot, and what of it is on record."""

import json
import random
import re

import pytest
from django.db import transaction
from django.test import Client
from django.urls import resolve, reverse
from django.utils import timezone

from apps.accounts.actions.projects import set_roles
from apps.accounts.enums import Role, Scope
from apps.accounts.models import ApiToken, Membership
from apps.agents.core.tools import Tool
from apps.agents.selectors import offered
from apps.audit.models import Event
from apps.audit.selectors.events import agents_behind
from apps.goldsets.models import Version, VersionQuery, VersionTriple
from apps.goldsets.selectors.versions import TEST_SEEN
from apps.judging.models import Adjudication, Guideline, Judgement, Round
from apps.review.models import Verdict
from tests.agents.asking import BOTH, Agent, secret_of
from tests.endpoints import ENDPOINTS, MEMBERS
from tests.factories import lead_of, make_member, make_project
from tests.fast_client import watching
from tests.judging.factories import make_guideline
from tests.running_jobs import run_jobs
from tests.world import ROUTES, arguments_of, is_of_the_api

pytestmark = pytest.mark.django_db

HANDBOOK = "# Leave\n\nStaff have thirty days of leave a year.\n\n# Keys\n\nA lost key is told to the desk at once.\n"
QUERIES = "id,text\nQ1,how many days of leave\nQ2,lost key\n"


@pytest.fixture
def team():
    """A lead who judges as well, with the guideline that a round needs."""
    project = make_project()
    lead = lead_of(project)
    set_roles(project=project, user=lead, roles=[Role.LEAD, Role.ANNOTATOR], actor=lead, at=timezone.now())
    make_guideline(project)
    return project, lead


def begin(agent: Agent) -> str:
    """From two files to a run of BM25; the name of the corpus."""
    plan = agent.do("import_documents", file_name="handbook.md", file=HANDBOOK, corpus="+")
    agent.do("confirm_documents_import", id=plan["id"])
    plan = agent.do("import_queries", file_name="queries.csv", file=QUERIES)
    agent.do("confirm_queries_import", id=plan["id"])
    corpus = agent.do("list_corpora")["results"][0]["slug"]
    agent.do("freeze_snapshot", corpus=corpus, name="First")
    system = agent.do("create_system", name="BM25", kind="bm25")["id"]
    agent.do("run_system", id=system, snapshot=f"{corpus}@1")
    run_jobs()
    return corpus


@pytest.mark.parametrize("version", BOTH)
def test_an_agent_takes_a_project_from_its_files_to_an_open_round(team, version):
    project, lead = team
    agent = Agent(secret_of(project, lead), version)

    corpus = begin(agent)
    run = agent.do("list_runs")["results"][0]
    agent.do("build_pool", snapshot=f"{corpus}@1", runs=[run["id"]], depth=2, name="Pilot")
    run_jobs()
    pool = agent.do("read_round_offer")["pools"][0]
    agent.do("plan_round", pool=pool["id"], annotators=[lead.pk], name="Round 1")

    assert Round.objects.get(project=project).name == "Round 1"
    assert agent.do("list_rounds")
    assert "grades" in agent.result("resources/read", uri="karat://guideline")["contents"][0]["text"]
    assert not Judgement.objects.exists()


def test_what_an_agent_did_is_on_record_with_its_token_and_the_tool_also_what_its_jobs_did(team, client):
    project, lead = team
    agent = Agent(secret_of(project, lead, name="nightly"))
    begin(agent)

    events = list(Event.objects.filter(project=project).order_by("pk"))
    told = {event.action: str(agents_behind(events).get(event.pk, "")) for event in events}
    assert told["system.created"] == "agent nightly, create_system"
    assert told["run.completed"] == "agent nightly, run_system"
    assert told["guideline.published"] == ""
    client.force_login(lead)
    assert "agent nightly, create_system" in client.get(reverse("audit:list", args=[project.slug])).content.decode()


def test_a_lead_pauses_every_agent_at_once_and_lets_them_work_again(team, client):
    project, lead = team
    other = make_member(project, "viewer")
    agents = [Agent(secret_of(project, person, at=timezone.now())) for person in (lead, other)]
    client.force_login(lead)
    page, switch = (reverse(f"people:{name}", args=[project.slug]) for name in ("tokens", "agents"))

    assert "planner" in client.get(page).content.decode()
    client.post(switch)

    for agent in agents:
        assert "paused" in agent.refused("list_runs")
    with pytest.raises(AssertionError, match="paused"):
        agents[0].result("resources/read", uri="karat://guideline")
    client.post(switch, {"work": "1"})
    assert all("results" in agent.do("list_runs") for agent in agents)
    client.force_login(other)
    assert client.post(switch).status_code == 403


def test_a_token_is_an_agents_or_not(team):
    project, lead = team
    plain = secret_of(project, lead, scopes=[Scope.RUNS_READ])

    assert Agent(plain).ask("tools/list").status_code == 403
    assert (
        Client(headers={"Authorization": f"Bearer {plain}"}).get(f"/api/v1/projects/{project.slug}/runs/").status_code
        == 200
    )
    assert Client().post("/mcp", "{}", content_type="application/json").status_code == 401


def test_an_agent_is_offered_and_allowed_only_what_its_scopes_allow(team):
    project, lead = team
    agent = Agent(secret_of(project, lead, scopes=[Scope.AGENT, Scope.RUNS_READ]))

    names = {tool["name"] for tool in agent.result("tools/list")["tools"]}

    assert "list_runs" in names
    assert not names & {"build_pool", "import_documents", "plan_round"}
    assert "lacks the scope runs:write" in agent.refused("build_pool", snapshot="x@1", name="Pool")


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("read_run", {}, "Missing: id."),
        ("read_run", {"id": 1, "slug": "other"}, "Unknown: slug. This tool takes: id."),
        ("read_run", {"id": "1/reach"}, "id is an id, and has no slash in it."),
        ("read_run", {"id": 999}, "not_found"),
        ("score_run", {"run": 1, "version": 1, "split": "test"}, "Unknown: split."),
        ("build_pool", {"name": "Pool"}, "snapshot"),
        ("import_queries", {"file_name": "q.xlsx", "file": "no", "is_base64": True}, "file is not base64."),
        ("import_queries", {"file_name": "q.csv", "file": ""}, "empty"),
    ],
)
def test_bad_arguments_are_refused_with_what_is_wrong(team, tool, arguments, words):
    project, lead = team

    assert words in Agent(secret_of(project, lead)).refused(tool, **arguments)


# Rights and blindness, tool by tool, in a whole project

KNOW_OF_SPLITS = ("goldsets", "evaluation", "reports", "gates", "editions")


def name_of(one) -> str:
    """The name of the endpoint that a tool or a resource is."""
    route = one.operation.route.format_map(dict.fromkeys({"slug", *one.operation.path}, "1"))
    return resolve(route).view_name


def arguments_for(world, one) -> dict[str, object]:
    """An object of each kind that the tool names."""
    name, things = name_of(one), world.things(world.project)
    named = re.findall(r"{(\w+)}", one.operation.route)  # the description calls a key by another name than the address
    kinds = dict(zip(named, arguments_of(name), strict=True))
    return {given: things.value(name, kinds[given]) for given in named if given != "slug"}


def agents_of(world) -> dict[str, Agent]:
    people = {role: world.people[role] for role in sorted(MEMBERS)}
    return {role: Agent(secret_of(world.project, person, at=timezone.now())) for role, person in people.items()}


def undone(do):
    """What it returns, after which everything stands as before."""
    with transaction.atomic():
        found = do()
        transaction.set_rollback(True)
    return found


def asked(agent: Agent, one, arguments) -> str:
    """All that the agent is told."""
    if isinstance(one.row, Tool):
        return undone(lambda: agent.ask("tools/call", name=one.row.name, arguments=arguments)).content.decode()
    address = one.row.address.format_map(arguments)
    return undone(lambda: agent.ask("resources/read", uri=address)).content.decode()


def test_each_tool_is_for_those_who_may_use_its_endpoint(world):
    wrong = {}

    for role, agent in agents_of(world).items():
        for key, one in offered().items():
            allowed = getattr(ENDPOINTS[name_of(one)], one.operation.method.lower())
            told = asked(agent, one, arguments_for(world, one))
            if ("This is for: " not in told) != (role in allowed):
                wrong[f"{key} as {role}"] = told[:200]

    assert wrong == {}


def test_no_tool_tells_what_is_sealed_or_what_somebody_answered(world):
    sealed = set(VersionQuery.objects.filter(split="test").values_list("outside_id", flat=True))
    sealed |= set(VersionTriple.objects.filter(split="test").values_list("label", flat=True))
    named = re.compile(rf"(?<![\w-])({'|'.join(sorted(map(re.escape, sealed)))})(?![\w-])")
    notes = {note for model in (Judgement, Verdict) for note in model.objects.values_list("note", flat=True) if note}
    told = {}

    for role, agent in agents_of(world).items():
        for key, one in offered().items():
            if not one.operation.reads:
                continue
            with watching() as written:
                words = asked(agent, one, arguments_for(world, one))
            if any(TEST_SEEN in str(values) for _, values in written.statements):
                told[f"{key} as {role}"] = "counted as a look at test"
            if name_of(one).startswith(KNOW_OF_SPLITS) and (found := named.search(words)):
                told[f"{key} as {role}"] = found[0]
            if any(json.dumps(note)[1:-1] in words for note in notes):
                told[f"{key} as {role}"] = "a note"

    assert sealed
    assert notes
    assert told == {}


def test_an_agents_token_opens_no_other_address(world):
    for role, agent in agents_of(world).items():
        for name in filter(is_of_the_api, sorted(ROUTES)):
            if name != "api:not-found":
                assert agent.client.get(world.url(name)).status_code == 403, f"{name} as {role}"


def standing_of(project) -> dict[str, object]:
    """All that only people do, in numbers and states."""
    return {
        "grades": Judgement.objects.count(),
        "decisions": Adjudication.objects.count(),
        "verdicts": Verdict.objects.count(),
        "guidelines": Guideline.objects.count(),
        "rounds": sorted(Round.objects.exclude(closed_at=None).values_list("pk", flat=True)),
        "versions": sorted(Version.objects.exclude(state="draft").values_list("pk", "state")),
        "members": Membership.objects.count(),
        "tokens": ApiToken.objects.filter(revoked_at=None).count(),
        "policies": type(project).objects.get(pk=project.pk).policies,
    }


def test_500_calls_of_a_hostile_agent_grade_decide_and_sign_nothing(world):
    chance = random.Random(20261130)
    agents, before = agents_of(world), standing_of(world.project)
    api = [
        "judging_grade",
        "judging_decide",
        "review_verdict",
        "versions_freeze",
        "versions_release",
        "settings_change",
    ]
    junk = [None, True, -1, 2**70, "", "../" * 9, "1 OR 1=1", "\x00", "é" * 999, [], [[]], {}, {"a": {"b": 1}}, 1.5]
    faults = {}

    for number in range(500):
        role, agent = chance.choice(sorted(agents.items()))
        one = chance.choice([row for row in offered().values() if isinstance(row.row, Tool)])
        arguments = arguments_for(world, one)
        for field in one.schema["properties"]:
            if chance.random() < 0.4 and (field not in arguments or chance.random() < 0.3):
                arguments[field] = chance.choice(junk)
        name = chance.choice([one.row.name] * 9 + api)
        try:
            answer = agent.ask("tools/call", name=name, arguments=arguments)
        except Exception as error:
            faults[f"{number}: {name} {arguments} as {role}"] = repr(error)
            continue
        if answer.status_code >= 500:
            faults[f"{number}: {name} {arguments} as {role}"] = str(answer.content[:200])

    assert faults == {}
    assert standing_of(world.project) == before

"""`oxpull workflow`: what it shows and draws, and what it changes."""

import asyncio
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from oxpull_async import Oxpull, Worker
from tests.app.kit import add, fail
from tests.cli.support import ask, document, run

pytestmark = pytest.mark.usefixtures("flow_id")


@pytest.fixture
def url(sqlite_url: str) -> str:
    return sqlite_url


@pytest.fixture
def flow_id(url: str) -> str:
    """Store a workflow, and run what can run of it: one node fails, so that one is discarded."""

    async def prepare() -> str:
        async with Oxpull(url) as ox:
            await ox.migrate()
            good, bad = ox.task(add), ox.task(max_attempts=1)(fail)
            async with ox.workflow("etl") as flow:
                await flow.add("extract", good, 1)
                await flow.add("check", bad, depends_on="extract")
                await flow.add("load", good, 2, depends_on="check")
                await flow.add("alarm", good.using(queue_name="later"), 3, depends_on={"check": "run"})
            await Worker(ox, burst=True, queues=["default"]).run()
            return flow.id

    return asyncio.run(prepare())


def test_a_workflow_is_shown_as_text(url: str, flow_id: str) -> None:
    assert run("workflow", "show", flow_id, "--url", url).stdout.splitlines() == [
        "etl: SEALED, 4 nodes: 1 succeeded, 1 failed, 1 unattributed, 1 pending",
        "extract   SUCCESSFUL",
        "↓ check   FAILED",
        "├─ load   DISCARDED",
        "└─ alarm  READY  runs whatever comes of check",
    ]


def test_a_workflow_is_one_document_for_machines(url: str, flow_id: str) -> None:
    found = document("workflow", "show", flow_id, "--url", url)
    assert (found["id"], found["name"], found["progress"]["status"]) == (flow_id, "etl", "SEALED")
    assert {node["name"]: (node["status"], node["upstreams"]) for node in found["nodes"]} == {
        "extract": ("SUCCESSFUL", {}),
        "check": ("FAILED", {"extract": "discard"}),
        "load": ("DISCARDED", {"check": "discard"}),
        "alarm": ("READY", {"check": "run"}),
    }


def test_a_workflow_is_drawn_into_files(url: str, flow_id: str, tmp_path: Path) -> None:
    drawn, flowchart = tmp_path / "etl.svg", tmp_path / "etl.mmd"
    result = run("workflow", "show", flow_id, "--svg", str(drawn), "--mermaid", str(flowchart), "--url", url)
    assert (result.exit_code, result.stdout) == (0, "")
    root = ET.fromstring(drawn.read_text("utf-8"))  # noqa: S314 - our own text
    assert len(root.findall("{http://www.w3.org/2000/svg}g")) == 4
    assert "-.->" in flowchart.read_text("utf-8")
    assert run("workflow", "show", flow_id, "--mermaid", "-", "--url", url).stdout == flowchart.read_text("utf-8")


def test_what_cannot_be_shown_or_written_is_one_sentence(url: str, flow_id: str, tmp_path: Path) -> None:
    unknown = run("workflow", "show", "nothing", "--url", url)
    assert unknown.exit_code == 1
    assert "no workflow has the id 'nothing'" in unknown.stderr
    nowhere = run("workflow", "show", flow_id, "--svg", str(tmp_path / "missing" / "x.svg"), "--url", url)
    assert nowhere.exit_code == 1
    assert "cannot be written" in nowhere.stderr
    both = run("workflow", "show", flow_id, "--svg", "x.svg", "--json", "--url", url)
    assert both.exit_code == 2


def test_a_node_is_retried_with_what_was_discarded(url: str, flow_id: str) -> None:
    assert run("workflow", "retry", flow_id, "check", "--url", url).stdout == "2 nodes to run\n"
    again = run("workflow", "retry", flow_id, "check", "--url", url)
    assert again.exit_code == 1
    assert "did not end badly" in again.stderr
    assert run("workflow", "show", flow_id, "--url", url).stdout.startswith("etl: SEALED, 4 nodes: 1 succeeded")
    assert document("workflow", "retry", flow_id, "extract", "--url", url)["revived"] == 0
    assert "no node" in run("workflow", "retry", flow_id, "missing", "--url", url).stderr


def test_a_workflow_is_cancelled(url: str, flow_id: str) -> None:
    assert run("workflow", "cancel", flow_id, "--url", url).stdout == "cancelled\n"
    again = run("workflow", "cancel", flow_id, "--url", url)
    assert again.exit_code == 1
    assert "it is complete" in again.stderr

    async def status(ox: Oxpull) -> str:
        return (await (await ox.get_workflow(flow_id)).progress()).status

    assert ask(url, status) == "COMPLETE"

"""`oxpull workflow`: one workflow as text, picture or JSON; its cancel and retry."""

from pathlib import Path

import click

from oxpull_async.app.oxpull import Oxpull
from oxpull_async.app.workflows import Workflow
from oxpull_async.cli.options import database_options
from oxpull_async.cli.output import print_json, printable
from oxpull_async.cli.target import Target
from oxpull_async.domain.sentences import counted
from oxpull_async.domain.workflow import NodeRecord, WorkflowProgress
from oxpull_async.domain.workflow_drawing import mermaid, svg, text_lines

_FILE = click.Path(dir_okay=False, writable=True, allow_dash=True, path_type=Path)
_UNCHANGED = "unchanged: the node did not end badly, or another one before it keeps it from running"
_id = click.argument("id_", metavar="ID")


@click.group("workflow", short_help="Show a workflow, draw it; cancel it, retry from a node.")
def workflow_command() -> None:
    """Show one workflow, or change it."""


@workflow_command.command("show", short_help="Show a workflow's nodes and edges.")
@_id
@click.option("--svg", "svg_file", type=_FILE, metavar="FILE", help="Draw it there for a browser; - is stdout.")
@click.option("--mermaid", "mermaid_file", type=_FILE, metavar="FILE", help="Draw it there as Mermaid; - is stdout.")
@database_options
def show_command(target: Target, *, id_: str, svg_file: Path | None, mermaid_file: Path | None) -> None:
    """Show a workflow's nodes, each under one that it depends on, with their statuses."""
    if target.as_json and (svg_file or mermaid_file):
        raise click.UsageError("--json prints one document, --svg and --mermaid draw: ask for one of them")
    flow, progress, nodes = target.run(lambda ox: _read(ox, id_))
    if svg_file is not None:
        _write(svg_file, svg(_title(flow, progress), nodes))
    if mermaid_file is not None:
        _write(mermaid_file, mermaid(nodes))
    if target.as_json:
        print_json({"id": flow.id, "name": flow.name, "progress": progress, "nodes": nodes})
    elif svg_file is None and mermaid_file is None:
        click.echo(printable(_title(flow, progress)))
        for line in text_lines(nodes):
            click.echo(printable(line))


@workflow_command.command("cancel", short_help="Cancel what has not ended.")
@_id
@database_options
def cancel_command(target: Target, *, id_: str) -> None:
    """Cancel the nodes that have not ended, and seal it.

    Exit code 1 when the workflow is complete already.
    """

    async def cancel(ox: Oxpull) -> bool:
        return await (await ox.get_workflow(id_)).cancel()

    cancelled = target.run(cancel)
    if target.as_json:
        print_json({"id": id_, "cancelled": cancelled})
    else:
        click.echo("cancelled" if cancelled else "unchanged: it is complete", err=not cancelled)
    if not cancelled:
        raise click.exceptions.Exit(1)


@workflow_command.command("retry", short_help="Run a node that ended badly again, and what was discarded with it.")
@_id
@click.argument("node", metavar="NODE")
@click.option("--callbacks", is_flag=True, help="Let its callbacks come once more when it completes.")
@database_options
def retry_command(target: Target, *, id_: str, node: str, callbacks: bool) -> None:
    """Run a node that ended badly once more, and all nodes that were discarded with it.

    Exit code 1 when the node did not end badly, or another one that did keeps it from running.
    """

    async def retry(ox: Oxpull) -> int:
        return await (await ox.get_workflow(id_)).retry_from(node, callbacks=callbacks)

    revived = target.run(retry)
    if target.as_json:
        print_json({"id": id_, "node": node, "revived": revived})
    else:
        click.echo(f"{counted(revived, 'node')} to run" if revived else _UNCHANGED, err=not revived)
    if not revived:
        raise click.exceptions.Exit(1)


async def _read(ox: Oxpull, id_: str) -> tuple[Workflow, WorkflowProgress, list[NodeRecord]]:
    flow = await ox.get_workflow(id_)
    return flow, await flow.progress(), await flow.nodes()


def _title(flow: Workflow, progress: WorkflowProgress) -> str:
    counts = {
        "succeeded": progress.succeeded, "failed": progress.failed, "unattributed": progress.unattributed,
        "pending": progress.pending, "blocked": progress.blocked,
    }  # fmt: skip
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    return f"{flow.name or flow.id}: {progress.status}, {counted(progress.total, 'node')}{f': {told}' if told else ''}"


def _write(file: Path, text: str) -> None:
    """Write a picture; where that fails, the error is one sentence."""
    try:
        with click.open_file(str(file), "w", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        raise click.ClickException(f"{file} cannot be written: {error.strerror}") from error

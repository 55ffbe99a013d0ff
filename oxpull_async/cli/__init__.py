"""The command line: `oxpull`, one file per group of commands."""

from oxpull_async.cli.bench import bench_command
from oxpull_async.cli.change import cancel_command, discard_command, retry_command
from oxpull_async.cli.explain import explain_command
from oxpull_async.cli.group import oxpull
from oxpull_async.cli.health import health_command, status_command
from oxpull_async.cli.late import demo_command
from oxpull_async.cli.migrate import migrate_command
from oxpull_async.cli.prune import prune_command
from oxpull_async.cli.queues import pause_command, resume_command
from oxpull_async.cli.schedules import schedules_command
from oxpull_async.cli.tasks import show_command, tasks_command
from oxpull_async.cli.worker import worker_command
from oxpull_async.cli.workflows import workflow_command

__all__ = ["main", "oxpull"]

COMMANDS = (
    demo_command, migrate_command, worker_command, status_command, tasks_command, show_command, explain_command,
    retry_command, discard_command, cancel_command, pause_command, resume_command, schedules_command, workflow_command,
    prune_command, health_command, bench_command,
)  # fmt: skip

for _command in COMMANDS:
    oxpull.add_command(_command)


def main() -> None:
    """Run the command that the process was started with, and exit with its code."""
    oxpull(prog_name="oxpull")

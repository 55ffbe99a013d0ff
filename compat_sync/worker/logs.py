"""Log lines of `oxpull_worker`: to where LOGGING says, else to stderr."""

import logging

from rich.console import Console

from oxpull_async.cli.logs import console_handler

__all__ = ["show_logs"]

_OURS = ("oxpull_async", "compat_sync")


def show_logs(level: str, console: Console) -> bool:
    """Show our log lines of a level and above; returns whether by a handler of ours."""
    unheard = [logger for logger in map(logging.getLogger, _OURS) if not logger.hasHandlers()]
    for name in _OURS:
        logging.getLogger(name).setLevel(level)
    handler = console_handler(console)
    for logger in unheard:
        logger.addHandler(handler)
    return bool(unheard)

"""Log lines of a worker for people: one sentence per event."""

import logging

from rich.console import Console
from rich.text import Text

from oxpull_async.cli.output import masked, printable

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
_STYLES = {logging.WARNING: "yellow", logging.ERROR: "red", logging.CRITICAL: "red"}


class SentenceFormatter(logging.Formatter):
    """Writes time, level, process and one sentence; passwords in URLs are hidden."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s [%(process)d] %(message)s", "%H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return printable(masked(super().format(record)))


class ConsoleHandler(logging.Handler):
    """Writes lines above a live display on the same console."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        """Print one line."""
        line = Text(self.format(record), style=_STYLES.get(record.levelno, ""))
        self._console.print(line, soft_wrap=True)


def console_handler(console: Console) -> logging.Handler:
    """Return a handler that writes sentences to stderr, in colour on a terminal."""
    handler: logging.Handler = ConsoleHandler(console) if console.is_terminal else logging.StreamHandler()
    handler.setFormatter(SentenceFormatter())
    return handler


def configure_logging(level: str, console: Console) -> None:
    """Send log lines to stderr, in colour on a terminal; below INFO only our own."""
    logging.basicConfig(level="INFO" if level == "DEBUG" else level, handlers=[console_handler(console)], force=True)
    logging.getLogger("oxpull_async").setLevel(level)

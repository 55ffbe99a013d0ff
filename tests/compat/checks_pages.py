"""Renders the tables of docs/django-checks.md and docs/django-settings.md: `python -m tests.compat.checks_pages`."""

from dataclasses import dataclass
from pathlib import Path

from compat_sync.checks.catalog import CATALOG
from compat_sync.options.keys import IDLE_KEYS, OPTION_KEYS

DOCS = Path(__file__).parents[2] / "docs"


@dataclass(frozen=True, slots=True)
class Table:
    """A table between two marks of a page, and how it should read."""

    page: str
    mark: str
    rows: tuple[str, ...]

    @property
    def printed(self) -> str:
        """Give the table as the page has it."""
        return self._parts()[1]

    @property
    def rendered(self) -> str:
        """Give the table as the code says."""
        return "".join(f"{row}\n" for row in self.rows)

    def write(self) -> None:
        """Put the table into its page."""
        head, _, rest = self._parts()
        (DOCS / self.page).write_text(head + self.rendered + rest, encoding="utf-8")

    def _parts(self) -> tuple[str, str, str]:
        begin, end = f"<!-- {self.mark}: begin -->\n", f"<!-- {self.mark}: end -->\n"
        head, _, rest = (DOCS / self.page).read_text(encoding="utf-8").partition(begin)
        body, _, tail = rest.partition(end)
        return head + begin, body, end + tail


def _checks(*, with_database: bool) -> tuple[str, ...]:
    return (
        "| id | when | what to do |",
        "| --- | --- | --- |",
        *(
            f"| `compat_sync.{code}` | {situation.when} | {situation.remedy} |"
            for code, situation in CATALOG.items()
            if situation.with_database is with_database
        ),
    )


TABLES = (
    Table("django-checks.md", "checks", _checks(with_database=False)),
    Table("django-checks.md", "database checks", _checks(with_database=True)),
    Table(
        "django-settings.md",
        "keys",
        (
            "| key | takes | default | meaning |",
            "| --- | --- | --- | --- |",
            *(f"| `{key.name}` | {key.takes} | `{key.default}` | {key.meaning} |" for key in OPTION_KEYS),
        ),
    ),
    Table(
        "django-settings.md",
        "keys of django-ox",
        (
            "| key | here |",
            "| --- | --- |",
            *(f"| `{key}` | no effect: {why}; `compat_sync.I201` says so |" for key, why in IDLE_KEYS.items()),
        ),
    ),
)

if __name__ == "__main__":
    for table in TABLES:
        table.write()

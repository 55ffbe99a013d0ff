"""Renders the table of URL options in docs/databases.md: `python -m tests.docs.options` writes it."""

from pathlib import Path

from oxpull_async.drivers.url_options import OPTIONS, UrlOption

PAGE = Path(__file__).parents[2] / "docs" / "databases.md"
BEGIN, END = "<!-- options: begin -->\n", "<!-- options: end -->\n"


def render() -> str:
    """Return the table."""
    rows = "".join(f"{_row(option)}\n" for option in OPTIONS)
    return f"| option | for | takes | default | meaning |\n| --- | --- | --- | --- | --- |\n{rows}"


def printed() -> str:
    """Return the table as the page has it."""
    return PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


def _row(option: UrlOption) -> str:
    takes = ", ".join(option.choices) if option.choices else option.kind
    families = "all" if len(option.families) == 3 else ", ".join(option.families)
    default = "" if option.default is None else f"`{option.default}`"
    return f"| `{option.name}` | {families} | {takes} | {default} | {option.meaning} |"


if __name__ == "__main__":
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(head + BEGIN + render() + END + rest.partition(END)[2], encoding="utf-8")

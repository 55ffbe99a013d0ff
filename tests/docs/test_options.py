"""docs/databases.md lists the URL options that exist."""

from tests.docs.options import printed, render


def test_the_table_of_url_options_is_generated_from_the_declarations() -> None:
    assert printed() == render()

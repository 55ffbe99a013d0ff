"""docs/states.md is the transition table."""

from tests.docs.states import PAGE, render


def test_the_page_of_states_is_generated_from_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == render()

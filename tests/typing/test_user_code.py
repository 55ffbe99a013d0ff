"""mypy in strict mode accepts the user code that is right and refuses what is wrong."""

import pytest
from mypy import api

from tests.architecture.tree import ROOT

CODE = ROOT / "tests" / "typing" / "user_code.py"
CONFIGURATION = ("--config-file", str(ROOT / "pyproject.toml"))


@pytest.mark.timeout(300)
def test_user_code_type_checks_where_it_should_and_nowhere_else() -> None:
    output, complaints, code = api.run([*CONFIGURATION, str(CODE)])
    assert (code, complaints) == (0, ""), output
    assert "Success" in output


def test_every_kind_of_mistake_is_among_the_refused() -> None:
    text = CODE.read_text()
    for mistake in ("arg-type", "call-arg", "assignment", "list-item", "call-overload"):
        assert f"# type: ignore[{mistake}]" in text

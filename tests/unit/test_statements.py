"""Statements: named parameters compiled to each placeholder style, and nothing else put into SQL."""

import re
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oxpull_async.db.statements import (
    FORMAT,
    NUMBERED,
    QMARK,
    Placeholders,
    compile_statement,
    load_statement,
    spread,
)
from oxpull_async.domain.errors import UnknownStatement

STYLES = [
    pytest.param(NUMBERED, id="numbered"), pytest.param(FORMAT, id="format"), pytest.param(QMARK, id="qmark"),
]  # fmt: skip
DIALECTS = ("postgres", "mysql", "sqlite")
every_style = pytest.mark.parametrize("style", STYLES)


def compiled(text: str, style: Placeholders = NUMBERED, now: str = "") -> tuple[str, tuple[str, ...]]:
    statement = compile_statement("test", text, style, now=now)
    return statement.sql, statement.parameters


def test_numbered_placeholders_share_a_number_per_name() -> None:
    assert compiled("SELECT :a, :b, :a") == ("SELECT $1, $2, $1", ("a", "b"))


def test_positional_placeholders_repeat_the_value() -> None:
    assert compiled("SELECT :a, :b, :a", FORMAT) == ("SELECT %s, %s, %s", ("a", "b", "a"))
    assert compiled("SELECT :a, :b, :a", QMARK) == ("SELECT ?, ?, ?", ("a", "b", "a"))


def test_ten_and_more_numbered_placeholders_keep_apart() -> None:
    names = [f"n{number}" for number in range(12)]
    sql, parameters = compiled("SELECT " + ", ".join(f":{name}" for name in [*names, "n0", "n10"]))
    assert sql.endswith("$11, $12, $1, $11")
    assert parameters == tuple(names)


@every_style
@pytest.mark.parametrize(
    "literal",
    ["'a :name'", "'it''s :name'", "':'", "'::text :a'", "''", "'\\'"],
    ids=["name", "quote", "colon", "cast", "empty", "backslash"],
)
def test_text_literals_stay_as_they_are(style: Placeholders, literal: str) -> None:
    assert compiled(f"SELECT {literal}, 1", style) == (f"SELECT {literal}, 1", ())


@every_style
def test_casts_are_no_parameters(style: Placeholders) -> None:
    sql, parameters = compiled("SELECT x::text, :a::jsonb, y::uuid", style)
    assert parameters == ("a",)
    assert "x::text" in sql
    assert "::jsonb" in sql


def test_percent_signs_are_doubled_only_where_the_driver_halves_them() -> None:
    text = "SELECT 'a%b', 7 % 2, :a"
    assert compiled(text, FORMAT)[0] == "SELECT 'a%%b', 7 %% 2, %s"
    assert compiled(text, NUMBERED)[0] == "SELECT 'a%b', 7 % 2, $1"
    assert compiled(text, QMARK)[0] == "SELECT 'a%b', 7 % 2, ?"


def test_comment_lines_are_left_out() -> None:
    assert compiled("-- says: what :it does 100%\n  -- more\nSELECT 1\n-- end\n") == ("SELECT 1", ())


def test_now_is_the_one_thing_put_into_sql() -> None:
    sql, parameters = compiled("SELECT :now - :age, :now", NUMBERED, now="(clock() + :clock_offset)")
    assert sql == "SELECT (clock() + $1) - $2, (clock() + $1)"
    assert parameters == ("clock_offset", "age")


@pytest.mark.parametrize("text", ["select 1", "SELECT 1", "  Select 1", "PRAGMA data_version", "-- why\nSELECT 1"])
def test_a_statement_that_reads_says_so(text: str) -> None:
    assert not compile_statement("test", text, NUMBERED).writes


@pytest.mark.parametrize(
    "text", ["UPDATE t SET a = 1", "INSERT INTO t SELECT 1", "DELETE FROM t", "WITH a AS (x) UPDATE t"]
)
def test_a_statement_that_writes_says_so(text: str) -> None:
    assert compile_statement("test", text, NUMBERED).writes


def test_values_are_bound_in_the_statement_s_order() -> None:
    statement = compile_statement("test", "SELECT :b, :a, :b", FORMAT)
    assert statement.bind({"a": 1, "b": 2}) == [2, 1, 2]


def test_the_clock_s_offset_is_bound_where_the_statement_tells_the_time() -> None:
    statement = compile_statement("test", "SELECT :now, :a", NUMBERED, now="(:clock_offset)")
    assert statement.bind({"a": 1}, 2.5) == [2.5, 1]
    assert compile_statement("test", "SELECT :a", NUMBERED).bind({"a": 1}, 2.5) == [1]


@pytest.mark.parametrize("values", [{}, {"a": 1}, {"a": 1, "b": 2, "c": 3}, {"a": 1, "c": 3}])
def test_missing_and_unused_values_are_named(values: dict[str, int]) -> None:
    statement = compile_statement("pay", "SELECT :a, :b", NUMBERED)
    missing, unused = sorted({"a", "b"} - set(values)), sorted(set(values) - {"a", "b"})
    with pytest.raises(UnknownStatement, match=re.escape(f"'pay': missing values {missing}, unused values {unused}")):
        statement.bind({**values})


@every_style
def test_an_unknown_statement_is_named_with_its_folder(style: Placeholders) -> None:
    with pytest.raises(UnknownStatement, match=r"no statement 'pay' in sql/postgres/"):
        load_statement("postgres", "pay", style)


@every_style
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_statement_compiles_and_leaves_no_name_behind(dialect: str, style: Placeholders) -> None:
    folder = resources.files("oxpull_async") / "sql" / dialect
    names = [file.name.removesuffix(".sql") for file in folder.iterdir() if file.name.endswith(".sql")]
    assert len(names) > 30
    for name in names:
        statement = load_statement(dialect, name, style)
        bare = re.sub(r"'(?:[^']|'')*'|::\w+", "", statement.sql)
        assert not re.search(r":[a-z_]", bare), name
        assert "--" not in statement.sql, name
        assert statement.sql.count(style.mark) >= len(set(statement.parameters)), name


@pytest.mark.parametrize("dialect", DIALECTS)
def test_F1_no_statement_tells_the_time_by_itself(dialect: str) -> None:
    clocks = re.compile(
        r"\b(now\(|current_timestamp|clock_timestamp|utc_timestamp|sysdate|statement_timestamp)|'now'", re.IGNORECASE
    )
    folder = resources.files("oxpull_async") / "sql" / dialect
    texts = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name.endswith(".sql")}
    for name in ("now.sql", "kept_rows.sql"):  # the second compares with instants of the server's own
        texts.pop(name, None)
    assert [name for name, text in texts.items() if clocks.search(re.sub(r"--.*", "", text))] == []


words = st.text("abc_", min_size=1).filter(lambda word: word != "now")
pieces = st.one_of(
    words.map(lambda name: ("name", name)),
    st.text("ab:'%? ", max_size=5).map(lambda text: ("literal", "'" + text.replace("'", "''") + "'")),
    st.sampled_from([("cast", "::text"), ("percent", "%"), ("word", "x")]),
)


@given(st.lists(pieces, max_size=12))
def test_whatever_the_text_each_name_becomes_one_mark_and_all_else_stays(parts: list[tuple[str, str]]) -> None:
    text = " ".join(f":{part}" if kind == "name" else part for kind, part in parts)
    sql, parameters = compiled(text, FORMAT)
    names = [part for kind, part in parts if kind == "name"]
    assert list(parameters) == names
    expected = " ".join("%s" if kind == "name" else part.replace("%", "%%") for kind, part in parts)
    assert sql == expected.strip()
    assert sql % tuple(range(len(names))) is not None


TWO_STEPS = """-- take: a key
INSERT INTO k VALUES (:key, :now)
-- then: use it; a comment
-- over two lines
INSERT INTO t SELECT :id, :key, 7 % 2
"""


@every_style
def test_the_steps_of_a_statement_are_dealt_their_own_values_in_order(style: Placeholders) -> None:
    statement = compile_statement("test", TWO_STEPS, style, now="clock(:clock_offset)")
    assert statement.names == {"key", "clock_offset", "id"}
    first, second = statement.dealt(statement.bind({"key": "k", "id": 1}, 2.5))
    assert first[0].startswith("INSERT INTO k VALUES (")
    assert second[0].startswith("INSERT INTO t SELECT ")
    assert (first[1], second[1]) == (["k", 2.5], [1, "k"])
    assert [sql.count(style.mark) for sql, _ in (first, second)] == [2, 2]
    if style.numbered:
        assert "$1, $2" in second[0]


@every_style
def test_one_command_is_dealt_everything(style: Placeholders) -> None:
    statement = compile_statement("test", "SELECT :a, :b", style)
    assert statement.steps == ()
    assert statement.dealt([1, 2]) == [(statement.sql, [1, 2])]


def test_a_statement_writes_if_any_of_its_steps_does() -> None:
    texts = ["SELECT 1", "SELECT 1\n-- then: more\nSELECT 2", "SELECT 1\n-- then: more\nUPDATE t SET a = 1"]
    assert [compile_statement("test", text, QMARK).writes for text in texts] == [False, False, True]


def test_a_semicolon_parts_no_steps() -> None:
    body = "DO $$ BEGIN\n    PERFORM a();\n    PERFORM b();\nEND $$"
    assert compile_statement("test", body, NUMBERED).dealt([]) == [(body, [])]


@pytest.mark.parametrize("dialect", ["postgres", "mysql"])
def test_no_statement_has_steps_where_each_would_be_a_round_trip(dialect: str) -> None:
    folder = resources.files("oxpull_async") / "sql" / dialect
    names = [file.name.removesuffix(".sql") for file in folder.iterdir() if file.name.endswith(".sql")]
    assert [name for name in names if load_statement(dialect, name, QMARK).steps] == []


def test_a_list_is_spread_over_placeholders_and_percent_signs_stay() -> None:
    statement = compile_statement("test", "SELECT DATE_FORMAT(:at, '%s') FROM t WHERE id IN :ids AND n = :n", FORMAT)
    wide, values = spread(statement, statement.bind({"at": "now", "ids": ("a", "b"), "n": 1}))
    assert wide.sql == "SELECT DATE_FORMAT(%s, '%%s') FROM t WHERE id IN (%s, %s) AND n = %s"
    assert values == ["now", "a", "b", 1]


def test_a_statement_without_lists_stays_as_it_is() -> None:
    statement = compile_statement("test", "SELECT :n", FORMAT)
    assert spread(statement, [1]) == (statement, [1])

"""The dialects that exist: which folder of SQL, and what it can say."""

from oxpull_async.db.contract import Dialect

POSTGRES = Dialect(
    name="postgres",
    update_returns_rows=True,
    insert_returns_rows=True,
    skips_locked=True,
    has_listen=True,
    has_transactional_ddl=True,
    enqueues_unique_at_once=True,
    locks_by_snapshot=True,
    claims_from_marks=True,
    tells_what_is_kept=True,
    has_lateral=True,
    has_arrays=True,
    steps_through_indexes=True,
)
MYSQL = Dialect(
    name="mysql",
    update_returns_rows=False,
    insert_returns_rows=False,
    skips_locked=True,
    has_listen=False,
    has_transactional_ddl=False,
    enqueues_unique_at_once=False,
    locks_by_snapshot=False,
    claims_from_marks=True,
    tells_what_is_kept=False,
    has_lateral=False,
    has_arrays=False,
    steps_through_indexes=False,
)
SQLITE = Dialect(
    name="sqlite",
    update_returns_rows=True,
    insert_returns_rows=True,
    skips_locked=False,
    has_listen=False,
    has_transactional_ddl=True,
    enqueues_unique_at_once=True,
    locks_by_snapshot=False,
    claims_from_marks=False,
    tells_what_is_kept=False,
    has_lateral=False,
    has_arrays=False,
    steps_through_indexes=True,
)

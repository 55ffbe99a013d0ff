"""How an outcome is written."""

import pytest

from oxpull_async.domain.outcome import Cancelled, Failed, Lease, Outcome, Released, Settlement, Snoozed, Succeeded

LEASE = Lease("01a227d4-d324-730e-9402-0d76e79e237e", 7)


@pytest.mark.parametrize(
    ("outcome", "columns"),
    [
        (Succeeded("1"), ("SUCCESSFUL", "1", None, None, False)),
        (Failed("{}", None), ("FAILED", None, "{}", None, False)),
        (Failed("{}", 5.0), ("READY", None, "{}", 5.0, False)),
        (Failed("{}", 0.0), ("READY", None, "{}", 0.0, False)),
        (Snoozed(9.0), ("READY", None, None, 9.0, True)),
        (Released(), ("READY", None, None, None, True)),
        (Cancelled("{}"), ("DISCARDED", None, "{}", None, False)),
    ],
)
def test_every_outcome_has_its_columns(outcome: Outcome, columns: tuple[object, ...]) -> None:
    row = Settlement(LEASE, outcome).columns()
    assert tuple(row[name] for name in ("status", "value", "error", "delay", "refund")) == columns


def test_a_settlement_carries_its_lease() -> None:
    row = Settlement(LEASE, Released()).columns()
    assert (row["id"], row["epoch"]) == ("01a227d4d324730e94020d76e79e237e", 7)

"""What every interleaving comes to in every setting; `docs/unique.md` says the same in words."""

NONE = "pg-none my-none wal-none delete-none"
PG_SNAPSHOT = "pg-rr pg-ser"
CURRENT = f"{NONE} pg-rc my-rc"
SERVERS = "pg-none pg-rc pg-rr pg-ser my-none my-rc my-rr my-ser my-rr-si"
ONE_WRITER = "wal-immediate delete-immediate delete-deferred"
SQLITE = f"wal-none delete-none wal-deferred {ONE_WRITER}"
ALL = f"{SERVERS} {SQLITE}"
STALE = {"race, lost": "my-rr-si wal-deferred", "others wait": ONE_WRITER}
READY, RUNNING = "existing READY", "existing RUNNING"

EXPECTED: dict[str, dict[str, str]] = {
    "winner commits while a duplicate waits": {
        READY: f"{CURRENT} my-ser {SQLITE}",
        "race, usable": "pg-rr my-rr",
        "race, lost": "pg-ser my-rr-si",
    },
    "winner rolls back while a duplicate waits": {"created": ALL},
    "holder is as the snapshot says": {READY: ALL},
    "holder was enqueued by the caller itself": {READY: ALL},
    "holder starts after the snapshot": {
        RUNNING: f"{CURRENT} {PG_SNAPSHOT} my-ser",
        READY: "my-rr my-rr-si",
        "race, lost": "wal-deferred",
        "others wait": ONE_WRITER,
    },
    "holder is being claimed": {
        READY: SERVERS.replace("my-ser ", ""),
        "race, usable": "my-ser",
        "race, lost": "wal-deferred",
        "waits in vain": "wal-none delete-none",
        "others wait": ONE_WRITER,
    },
    "holder settles after the snapshot": {
        "created": f"{CURRENT} my-rr my-ser",
        "race, usable": PG_SNAPSHOT,
        **STALE,
    },
    "holder is deleted after the snapshot": {
        "created": f"{CURRENT} my-rr my-ser",
        "race, usable": PG_SNAPSHOT,
        **STALE,
    },
    "holder is superseded after the snapshot": {
        READY: f"{CURRENT} my-ser",
        "race, usable": "pg-rr my-rr",
        **STALE,
        "race, lost": "pg-ser my-rr-si wal-deferred",
    },
    "key is taken after the snapshot": {
        READY: f"{CURRENT} my-ser",
        "race, usable": "pg-rr my-rr",
        **STALE,
        "race, lost": "pg-ser my-rr-si wal-deferred",
    },
    "settled holder is as the snapshot says": {"created": ALL},
    "settled holder is replaced after the snapshot": {
        READY: f"{CURRENT} my-ser",
        "race, usable": "pg-rr my-rr",
        **STALE,
        "race, lost": "pg-ser my-rr-si wal-deferred",
    },
    "settled holder is retried after the snapshot": {
        READY: f"{CURRENT} my-rr my-ser",
        "race, usable": "pg-rr",
        **STALE,
        "race, lost": "pg-ser my-rr-si wal-deferred",
    },
    "retry of a settled holder is in flight": {
        READY: f"{CURRENT} my-rr my-ser {SQLITE}",
        "race, usable": "pg-rr",
        "race, lost": "pg-ser my-rr-si",
    },
    "retry of a settled holder is rolled back": {"created": ALL},
    "takeover in a long transaction commits": {READY: ALL},
    "takeover in a long transaction is rolled back": {
        "created": " ".join(name for name in ALL.split() if name not in NONE.split()),
        READY: NONE,
    },
}


def expected(interleaving: str, setting: str) -> str:
    """Return the outcome that an interleaving must have in a setting."""
    (outcome,) = {outcome for outcome, names in EXPECTED[interleaving].items() if setting in names.split()}
    return outcome

"""Every situation that a system check reports: its code, when it holds, what to do about it.

Below 100 a code stands for what oxpull reports under the same number, from 100 to 199 for what django-ox reports under
the number less 100; those from 200 are ours. A code never changes its meaning. docs/django-checks.md is made from this.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from django.core import checks

__all__ = ["CATALOG", "Problem", "Situation"]

_LEVELS = {"E": checks.ERROR, "W": checks.WARNING, "I": checks.INFO}


@dataclass(frozen=True, slots=True)
class Situation:
    """When a check fires, and the way out; `with_database` ones need `check --database`."""

    when: str
    remedy: str
    with_database: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong with a project's settings or database.

    `hint` None is the catalogue's remedy.
    """

    code: str
    text: str
    hint: str | None = None

    @property
    def level(self) -> int:
        """The level of Django's check messages: `checks.ERROR`, `WARNING` or `INFO`."""
        return _LEVELS[self.code[0]]

    def message(self) -> checks.CheckMessage:
        """Return the check message, whose id is `compat_sync.` and the code."""
        hint = CATALOG[self.code].remedy if self.hint is None else self.hint
        return checks.CheckMessage(self.level, self.text, hint=hint, id=f"compat_sync.{self.code}")


CATALOG: Mapping[str, Situation] = MappingProxyType(
    {
        "E001": Situation(
            "`compat_sync` is not in `INSTALLED_APPS`.",
            "Add 'compat_sync' to INSTALLED_APPS and run `manage.py migrate`.",
        ),
        "E002": Situation(
            "`UNIQUE_TASKS` is no list of dotted paths, or a path of it cannot be imported or is no task.",
            "Name the function below @task by its module, like 'shop.tasks.send_invoice'.",
        ),
        "E003": Situation(
            "A backend was built by hand for an alias that `TASKS` does not have.",
            "Add the alias to TASKS: workers find the tasks of an alias by its name.",
        ),
        "E004": Situation(
            "The database routers put our models into different databases, or into none that there is, or raise.",
            "Let db_for_write() and allow_migrate() give one answer for every model of compat_sync: a task and its "
            "locks commit together.",
        ),
        "E005": Situation(
            "An entry of `RATE_LIMITS` is wrong, or a path of its `tasks` cannot be imported or is no task.",
            "Write {'api': {'limit': 20, 'per': 1, 'tasks': ['shop.tasks.push']}}; docs/rate-limits.md has more.",
        ),
        "E102": Situation(
            "An entry of `SCHEDULES` is wrong, its task cannot be imported or is no task, or its arguments do not fit.",
            "docs/schedules.md has what an entry takes; name the function below @task by its module.",
        ),
        "E104": Situation(
            "`TASK_TIMEOUT`, a value of `TASK_TIMEOUTS` or `TASK_TIMEOUT_GRACE` is no duration above zero.",
            "Give seconds or a timedelta; None stands for no timeout, and is not for the grace.",
        ),
        "E105": Situation(
            "`TASK_TIMEOUTS` names a queue that is not in `QUEUES`.",
            "Add the queue to QUEUES, or correct its name.",
        ),
        "E106": Situation(
            "`SCHEDULE_SOURCE` names a source of schedules that is not known here.",
            "Remove it: stored schedules are served without it. Others are stored with compat_sync.schedules.",
        ),
        "E107": Situation(
            "An entry of `SCHEDULABLE_TASKS` is wrong, or its task or form cannot be imported or is none.",
            "Write {'report': 'shop.tasks.report'}, or a dict of task, form (an ArgsForm) and permission.",
        ),
        "E110": Situation(
            "`LOCK_TIMEOUT` is less than a second, or `BACKOFF_INITIAL` or `BACKOFF_MAX` is no duration above zero.",
            "Give seconds or a timedelta.",
        ),
        "E111": Situation(
            "`MAX_ATTEMPTS` is nothing that could be a number of attempts.",
            "Give a whole number from 1 to 32767.",
        ),
        "E201": Situation(
            "`OPTIONS` has a key that nobody knows.",
            "Correct its name or remove it: a setting that is not known would be ignored without a word.",
        ),
        "E203": Situation(
            "`QUEUES` stands inside `OPTIONS`, where Django does not look for it.",
            "Move QUEUES out of OPTIONS, beside BACKEND.",
        ),
        "E204": Situation(
            "The alias is too long, `QUEUES` is no list of names, or `OPTIONS` is no dict.",
            'Write {"BACKEND": "…", "QUEUES": ["default"], "OPTIONS": {}}; an empty list of QUEUES allows any name.',
        ),
        "E205": Situation(
            "`UNIQUE_TTL`, `MAX_PAYLOAD_BYTES`, `POOL_SIZE`, `POOLER` or `LISTEN_URL` has a value out of range.",
            "docs/django-settings.md has what each key takes.",
        ),
        "E206": Situation(
            "`TASK_OPTIONS` is no dict of dotted path to keywords of `@task`, a keyword is not known, or its value is "
            "out of range.",
            "docs/django-settings.md has the keywords and an example.",
        ),
        "E207": Situation(
            "A path of `TASK_OPTIONS` cannot be imported, as where its keywords do not fit its task, or is no task.",
            "Name the function below @task by its module, like 'shop.tasks.send_invoice'.",
        ),
        "E208": Situation(
            '`POOLER` is "transaction", or `LISTEN_URL` is given, and the database of the tasks has no LISTEN.',
            "Remove the key: a database without LISTEN has no use for it.",
        ),
        "E209": Situation(
            "The database of the tasks is of a kind that tasks cannot be kept in.",
            "Let a database router give compat_sync a database on PostgreSQL, MySQL, MariaDB or SQLite.",
        ),
        "E210": Situation(
            "`USE_TZ` is off.",
            "Set USE_TZ = True: stored instants are UTC, and naive local times repeat an hour every autumn.",
        ),
        "E211": Situation(
            "The `TIME_ZONE` of the database's entry is not UTC, and the database stores no time zone (MySQL, SQLite).",
            "Remove TIME_ZONE from the entry, or give compat_sync a database of its own by a router.",
        ),
        "E212": Situation(
            "The server, or the SQLite library, has a version that tasks cannot be kept in.",
            "Upgrade it; docs/databases.md has the versions.",
            with_database=True,
        ),
        "E213": Situation(
            "A newer version of oxpull-async has migrated the database.",
            "Upgrade oxpull-async in this environment.",
            with_database=True,
        ),
        "E214": Situation(
            "The database could not be asked for its schema.",
            "See to the error that the message names, then check again.",
            with_database=True,
        ),
        "E215": Situation(
            "An entry of `TASKS` has a key beside `BACKEND`, `QUEUES` and `OPTIONS`.",
            "Move it into OPTIONS, or remove it: there it would be ignored without a word.",
        ),
        "W001": Situation(
            "`SCHEDULES` starts a unique task: while one is pending, a tick of the schedule enqueues nothing.",
            "If every tick has to run, take the task out of UNIQUE_TASKS and remove unique from its declaration.",
        ),
        "W004": Situation(
            "Aliases give one name of `RATE_LIMITS` different limits; they share it, and the smallest holds.",
            "Give it the same limit everywhere, or other names if they are to count apart.",
        ),
        "W005": Situation(
            "Aliases give one name of `RATE_LIMITS` different periods; they share it, and the longest holds.",
            "Give it the same period everywhere, or other names if they are to count apart.",
        ),
        "W006": Situation(
            "Names of `RATE_LIMITS` differ by case or accents only; each counts for itself.",
            "Rename one of them, or give them one name if they are to count together.",
        ),
        "W103": Situation(
            "`BACKOFF_INITIAL` is more than `BACKOFF_MAX`, so every retry waits for `BACKOFF_MAX`.",
            "Raise BACKOFF_MAX or lower BACKOFF_INITIAL.",
        ),
        "W104": Situation(
            "`MAX_ATTEMPTS` is a text, a bool, 0 or a number with a fraction; django-ox took these.",
            "Write the whole number that the message names.",
        ),
        "W201": Situation(
            "Two aliases of `TASKS` differ by upper and lower case only; their tasks and unique keys never meet.",
            "Rename one of them.",
        ),
        "W202": Situation(
            "The database's entry in `DATABASES` says something that the native driver cannot do.",
            "Remove the key. With it, aenqueue works in a thread on Django's connection, and oxpull_worker refuses to "
            "start.",
        ),
        "W203": Situation(
            "The native driver of the database is not installed.",
            "Install the extra that the message names. Without it, aenqueue works in a thread, and oxpull_worker does "
            "not start.",
        ),
        "W204": Situation(
            "The database lacks tables or columns that this version needs.",
            "Run `manage.py migrate`.",
            with_database=True,
        ),
        "W205": Situation(
            "The routers let nobody make the tables in the database where they send the tasks.",
            "Let allow_migrate() answer True for compat_sync there. Silence this where another project or "
            "`oxpull migrate` makes the tables.",
        ),
        "I201": Situation(
            "`OPTIONS` has a key of django-ox that has no effect here: `WORKER_CLASS`, `WORKFLOWS`, "
            "`RATE_REFRESH_INTERVAL`, `SCHEDULE_SOURCE`, `SCHEDULE_RECONCILE_INTERVAL`.",
            "Remove it when no older process reads these settings any more.",
        ),
    }
)

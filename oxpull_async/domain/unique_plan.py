"""What a run of enqueues of one key comes to, decided before anything is written.

A bulk call equals the same calls one after another: each meets the holder that the ones before it have left.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec.structs import replace as replaced

from oxpull_async.domain.record import NewTask, TaskId, TaskRecord, TaskStatus
from oxpull_async.domain.unique import Holder, UniqueRule, Verdict, judge


@dataclass(frozen=True, slots=True)
class UniqueCall:
    """One enqueue of a unique task, with its position in the call it came by.

    `met`: the key was lately enqueued here, so that it probably has a lock row. It chooses the first statement only.
    """

    position: int
    task: NewTask
    rule: UniqueRule
    met: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A key's lock row: whom it names, and their records where these exist.

    A follow-up that does not wait any more is none. `is_expired` is None where the key has no ttl.
    """

    holder_id: TaskId
    follow_up_id: TaskId | None
    is_expired: bool | None
    holder: TaskRecord | None
    follow_up: TaskRecord | None = None

    @property
    def state(self) -> Holder:
        """The holder as the rules see it."""
        record = self.holder
        status, attempts = (None, 0) if record is None else (record.status, record.attempts)
        return Holder(status, attempts, self.is_expired, self.follow_up_id is not None)


@dataclass(frozen=True, slots=True)
class Seat:
    """A task in the key's plan.

    One that exists, or one that the call `made` makes; `latest` rewrites it. `reruns`: a call declared it to.
    """

    record: TaskRecord | None
    made: UniqueCall | None = None
    latest: UniqueCall | None = None
    reruns: bool = False

    @classmethod
    def new(cls, call: UniqueCall) -> "Seat":
        """Return the seat of the task that a call makes."""
        return cls(None, call, call, call.task.reruns)

    def rewritten(self, call: UniqueCall) -> "Seat":
        """Return the seat with the arguments of a later call."""
        return replace(self, latest=call, reruns=self.reruns or call.task.reruns)

    def new_task(self, *, waits: bool = False) -> NewTask | None:
        """Return the task to insert, if a call made one.

        It has the arguments of the last call that met it.
        """
        if self.made is None or self.latest is None:
            return None
        first, latest = self.made.task, self.latest.task
        if latest is first and not waits:
            return first
        return replaced(
            latest,
            id=first.id, max_attempts=first.max_attempts, timeout=first.timeout, reruns=self.reruns,
            waiting_for="follow_up" if waits else None,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class KeyPlan:
    """What to write for one key, and which task answers each position.

    `taken_from` is whom the key is taken from (None: nobody held a lock row), `former` answers the calls that met that
    task before; `promoted` says that the follow-up becomes the holder first; `refused` is the position of a call that
    raises.
    """

    key: str
    holder: Seat
    follow_up: Seat | None
    former: Seat
    taken_from: TaskId | None
    promoted: bool
    answers: dict[int, str]
    refused: int | None
    calls: tuple[UniqueCall, ...]

    @property
    def writes(self) -> bool:
        """Whether anything is to be written."""
        seats = (self.holder, self.follow_up)
        return self.promoted or any(seat is not None and seat.latest is not None for seat in seats)


def plan_key(key: str, calls: Sequence[UniqueCall], found: Found | None) -> KeyPlan:
    """Decide what a run of calls of one key, in their order, comes to."""
    if found is None and len(calls) == 1:
        return _fresh(key, calls[0])
    state = _State(found)
    for call in calls:
        if not state.take(call):
            break
    return state.plan(key, tuple(calls))


def _fresh(key: str, call: UniqueCall) -> KeyPlan:
    """Return the plan of one call of a key that nobody has, as most of a bulk call are."""
    return KeyPlan(
        key, Seat.new(call), None, Seat(None), taken_from=None, promoted=False, answers={call.position: "holder"},
        refused=None, calls=(call,),
    )  # fmt: skip


class _State:
    """The key's holder and follow-up while the calls go by."""

    def __init__(self, found: Found | None) -> None:
        self._found = found
        self._view = found.state if found else None
        self._former = Seat(found.holder if found else None)
        self._holder = self._former
        self._follow_up = Seat(found.follow_up) if found and found.follow_up_id else None
        self._taken = False
        self._promoted = False
        self._answers: dict[int, str] = {}
        self._refused: int | None = None

    def take(self, call: UniqueCall) -> bool:
        """Let the next call meet the holder; False when it is refused and nothing more counts."""
        verdict = judge(call.rule.until, call.rule.mode, self._view) if self._view else Verdict.TAKE_OVER
        if verdict is Verdict.PROMOTE:
            self._promote()
            return self.take(call)
        if verdict is Verdict.REFUSE:
            self._refused = call.position
        else:
            self._answers[call.position] = self._apply(verdict, call)
        return verdict is not Verdict.REFUSE

    def _apply(self, verdict: Verdict, call: UniqueCall) -> str:
        """Carry a verdict out in the plan; returns which seat answers the call."""
        match verdict:
            case Verdict.TAKE_OVER:
                self._answers = dict.fromkeys(self._answers, "former")
                self._holder, self._follow_up = Seat.new(call), None
                self._view, self._taken = Holder(TaskStatus.READY, 0, is_expired=False, has_follow_up=False), True
            case Verdict.UPDATE_HOLDER:
                self._holder = self._holder.rewritten(call)
            case Verdict.ADD_FOLLOW_UP:
                self._follow_up = Seat.new(call)
                self._view = replace(self._view, has_follow_up=True) if self._view else None
                return "follow_up"
            case Verdict.UPDATE_FOLLOW_UP if self._follow_up is not None:
                self._follow_up = self._follow_up.rewritten(call)
                return "follow_up"
            case Verdict.EXISTING_FOLLOW_UP:
                return "follow_up"
            case _:
                pass
        return "holder"

    def _promote(self) -> None:
        self._holder, self._follow_up = self._follow_up or self._holder, None
        self._view = Holder(TaskStatus.READY, 0, is_expired=False, has_follow_up=False)
        self._promoted = True

    def plan(self, key: str, calls: tuple[UniqueCall, ...]) -> KeyPlan:
        """Return what the calls so far came to."""
        old = self._found.holder_id if self._found and self._taken else None
        return KeyPlan(
            key, self._holder, self._follow_up, self._former, old, self._promoted, self._answers, self._refused, calls
        )

"""The pages of the schedules: what ticks when, and changes of stored ones."""

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.widgets import AdminSplitDateTime
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest
from django.utils.safestring import SafeString

from compat_sync import schedules
from compat_sync.admin.base import ReadOnlyAdmin
from compat_sync.admin.links import task_link
from compat_sync.exceptions import OxpullError
from compat_sync.models import OxpullSchedule
from compat_sync.operations import our_aliases
from compat_sync.options.schedules import as_in_settings
from compat_sync.registry import kinds
from oxpull_async.domain.schedule import CATCH_UPS, OVERLAPS
from oxpull_async.domain.timing import REPEATED_HOURS, Timing

__all__ = ["ScheduleAdmin", "ScheduleForm"]

_NEW = "backend"
_FIELDS = (
    "name", "task_key", "arguments", "cron", "every_seconds", "phase_seconds", "tz", "repeated_hour", "catch_up",
    "starting_deadline_seconds", "overlap", "enabled", "end_time", "queue_name", "priority",
)  # fmt: skip


class ScheduleForm(forms.ModelForm):  # type: ignore[type-arg] # generic to a type checker only
    """A stored schedule; what its save refuses is told by field."""

    backend = forms.ChoiceField(choices=())
    name = forms.CharField(max_length=128)
    task_key = forms.ChoiceField(choices=(), label="task")
    arguments = forms.JSONField(required=False, initial=dict, help_text="Keyword arguments, as a JSON object.")
    cron = forms.CharField(max_length=128, required=False, help_text="Five fields, like 0 3 * * mon-fri.")
    every_seconds = forms.FloatField(required=False, help_text="Instead of cron.")
    phase_seconds = forms.FloatField(required=False)
    tz = forms.CharField(max_length=64, label="time zone")
    repeated_hour = forms.ChoiceField(choices=[(name, name) for name in REPEATED_HOURS])
    catch_up = forms.ChoiceField(choices=[(name, name) for name in CATCH_UPS], initial="latest")
    starting_deadline_seconds = forms.FloatField(required=False, help_text="Older ticks are not caught up.")
    overlap = forms.ChoiceField(choices=[(name, name) for name in OVERLAPS])
    enabled = forms.BooleanField(required=False, initial=True)
    end_time = forms.SplitDateTimeField(required=False, widget=AdminSplitDateTime)
    queue_name = forms.CharField(max_length=128, required=False, label="queue")
    priority = forms.IntegerField(required=False)
    user: Any = None

    class Meta:
        """No field is the model's own: what is written goes through compat_sync.schedules."""

        model = OxpullSchedule
        fields = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        row = kwargs.get("instance")
        given: dict[str, Any] = {**as_in_settings()} if row is None else {**schedules.fields_of(row)}
        kwargs["initial"] = given | (kwargs.get("initial") or {})
        super().__init__(*args, **kwargs)
        known = [(key, f"{key} ({kind.task.module_path})") for key, kind in sorted(kinds().items())]
        key = given.get("task_key")
        missing = [(key, f"{key} (not schedulable)")] if row is not None and key not in dict(known) else []
        cast("forms.ChoiceField", self.fields["task_key"]).choices = [*known, *missing]
        if row is None:
            cast("forms.ChoiceField", self.fields[_NEW]).choices = [(alias, alias) for alias in our_aliases()]
        else:
            del self.fields[_NEW]

    def clean(self) -> dict[str, Any]:
        """Refuse both or none of cron and interval."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if "cron" in cleaned and "every_seconds" in cleaned and bool(cleaned["cron"]) == bool(cleaned["every_seconds"]):
            raise ValidationError("Give either cron or every_seconds.")
        return cleaned

    def _post_clean(self) -> None:
        """Store the schedule if all is well so far, so that what the core refuses is shown beside the field."""
        if self.errors:
            return
        try:
            self.instance = self._stored()
        except ValidationError as refused:
            for field, lines in refused.message_dict.items():
                self.add_error(field if field in self.fields else None, lines)
        except (OxpullError, PermissionDenied) as refused:
            self.add_error(None, str(refused))

    def _stored(self) -> OxpullSchedule:
        fields: Any = {name: self.cleaned_data[name] for name in _FIELDS}
        fields["trigger"] = schedules.CRON if fields["cron"] else schedules.INTERVAL
        fields |= {name: fields[name] or None for name in ("queue_name", "phase_seconds")}
        fields["arguments"] = fields["arguments"] or {}
        if self.instance.pk is None:
            return schedules.create_schedule(user=self.user, backend=self.cleaned_data[_NEW], **fields)
        return schedules.update_schedule(self.instance, user=self.user, **fields)


@admin.register(OxpullSchedule)
class ScheduleAdmin(ReadOnlyAdmin):
    """Schedules: stored ones can be changed, those of code and settings paused."""

    form = ScheduleForm
    list_display = ("name", "backend_alias", "when", "task_path", "last_tick_at", "next_at", "last_task", "state")
    list_filter = ("backend_alias", "declared", "paused")
    search_fields = ("name",)
    search_help_text = "A name, or its beginning."
    ordering = ("backend_alias", "name")
    actions = ("run_now", "pause", "resume")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Those may add who have Django's permission to."""
        return bool(cast("Any", request.user).has_perm("compat_sync.add_oxpullschedule"))

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Stored ones may be changed; what code declares is changed there."""
        may = bool(cast("Any", request.user).has_perm("compat_sync.change_oxpullschedule"))
        return may and not (obj is not None and obj.declared)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        """Those may delete who have Django's permission to.

        A declared one comes back if it is declared still.
        """
        return bool(cast("Any", request.user).has_perm("compat_sync.delete_oxpullschedule"))

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:  # noqa: ARG002
        """Give the form the user whose permissions count."""
        return type("Form", (self.form,), {"user": request.user, "__module__": __name__})

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Show the form's fields, or those of the row where it is not to be changed."""
        if obj is not None and not self.has_change_permission(request, obj):
            return self.get_readonly_fields(request, obj)
        return _FIELDS if obj is not None else (_NEW, *_FIELDS)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return what is shown of a schedule that is not to be changed."""
        if obj is None or self.has_change_permission(request, obj):
            return ()
        return (
            "name", "backend_alias", "when", "task_path", "args", "kwargs", "queue_name", "priority", "catch_up",
            "max_age", "overlap", "starts_at", "ends_at", "last_tick_at", "last_task", "next_at", "state",
        )  # fmt: skip

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: Any) -> None:
        """Do nothing: the form has stored it."""

    def delete_model(self, request: HttpRequest, obj: OxpullSchedule) -> None:
        """Forget one."""
        schedules.delete_schedule(obj, user=request.user)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        """Forget those that were chosen."""
        for row in queryset:
            schedules.delete_schedule(row, user=request.user)

    @admin.action(description="Enqueue selected schedules once now", permissions=["change"])
    def run_now(self, request: HttpRequest, queryset: Any) -> None:
        """Enqueue their calls once; their ticks and pauses stay as they are."""
        _switch(request, queryset, schedules.run_schedule, "enqueued")

    @admin.action(description="Pause selected schedules", permissions=["change"])
    def pause(self, request: HttpRequest, queryset: Any) -> None:
        """Drop their ticks from now on."""
        _switch(request, queryset, schedules.pause_schedule, "paused")

    @admin.action(description="Resume selected schedules", permissions=["change"])
    def resume(self, request: HttpRequest, queryset: Any) -> None:
        """Let them go on with their next ticks."""
        _switch(request, queryset, schedules.resume_schedule, "resumed")

    @admin.display(description="ticks")
    def when(self, row: OxpullSchedule) -> str:
        """Say when it ticks."""
        timing = Timing(cron=row.cron, every=row.every, phase=row.phase, tz=row.tz, repeated_hour=row.repeated_hour)
        return timing.describe()

    @admin.display(description="last task")
    def last_task(self, row: OxpullSchedule) -> SafeString:
        """Link to the task of the last tick."""
        return task_link(row.last_task_id, self.admin_site.name)

    @admin.display(description="state")
    def state(self, row: OxpullSchedule) -> str:
        """Say whether it is declared, and whether it ticks."""
        kind = "declared" if row.declared else "stored"
        return f"{kind}, paused" if row.paused else f"{kind}, ended" if row.next_at is None else kind


def _switch(request: HttpRequest, queryset: Any, switch: Any, done: str) -> None:
    """Change the chosen schedules one by one, and say what was done and what was refused."""
    changed, refusals = 0, list[str]()
    for row in queryset:
        try:
            changed += bool(switch(row, user=request.user))
        except (OxpullError, PermissionDenied) as refused:
            refusals.append(f"schedule {row.name!r}: {refused}")
    if changed or not refusals:
        messages.success(request, f"{changed} schedules {done}")
    for refusal in refusals:
        messages.error(request, refusal)

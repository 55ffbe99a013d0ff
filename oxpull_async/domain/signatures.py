"""Read functions' signatures and annotations, and say quickly whether a call fits."""

import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

if sys.version_info >= (3, 14):
    import annotationlib

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_UNLIMITED = sys.maxsize


@dataclass(frozen=True, slots=True)
class CallShape:
    """What a call of one function must look like, without the parameters that the worker passes."""

    signature: inspect.Signature | None
    skipped: str | None = None
    most: int = field(init=False, default=_UNLIMITED)
    required: dict[str, int] = field(init=False, default_factory=dict)
    named: dict[str, int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Note each parameter's place; one that is given by name only is placed behind all."""
        parameters = [] if self.signature is None else list(self.signature.parameters.values())
        positional = [parameter.name for parameter in parameters if parameter.kind in POSITIONAL]
        places = {parameter.name: _UNLIMITED for parameter in parameters} | {
            name: place for place, name in enumerate(positional)
        }
        self.required.update(
            (parameter.name, places[parameter.name]) for parameter in parameters if _required(parameter)
        )
        self.named.update((parameter.name, places[parameter.name]) for parameter in parameters if _by_name(parameter))
        if self.signature is not None and all(
            parameter.kind is not parameter.VAR_POSITIONAL for parameter in parameters
        ):
            object.__setattr__(self, "most", len(positional))

    @property
    def fewest(self) -> int:
        """Count the arguments that a call without names needs: none are enough if one has a name."""
        return _UNLIMITED if _UNLIMITED in self.required.values() else len(self.required)

    @classmethod
    def of(cls, function: Callable[..., object], *, skip_first: int) -> "CallShape":
        """Read a function's signature; leaves out the first parameters, which the worker passes."""
        signature = _signature(function)
        if signature is None or not skip_first:
            return cls(signature)
        parameters = list(signature.parameters.values())
        passed = [parameter for parameter in parameters[:skip_first] if parameter.kind in POSITIONAL]
        if not passed:
            return cls(signature)
        return cls(signature.replace(parameters=parameters[len(passed) :]), passed[0].name)

    def mismatch(self, args: Sequence[object], kwargs: Mapping[str, object]) -> str | None:
        """Say what is wrong with a call, or None."""
        if self._fits(args, kwargs) or self.signature is None:
            return None
        if self.skipped is not None and self.skipped in kwargs:
            return f"{self.skipped!r} is passed by the worker{self._way_out()}"
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError as error:
            return f"{error}{self._way_out()}"
        # `bind` overlooks a positional-only parameter whose name lands in **kwargs.
        missing = [name for name, place in self.required.items() if place >= len(args) and name not in self.named]
        return f"missing a required argument: {missing[0]!r}{self._way_out()}" if missing else None

    def _fits(self, args: Sequence[object], kwargs: Mapping[str, object]) -> bool:
        """Recognise the common right calls; False means only that `bind` must look."""
        given = len(args)
        if given > self.most:
            return False
        for name in kwargs:
            if self.named.get(name, -1) < given:
                return False
        return all(place < given or name in kwargs for name, place in self.required.items())

    def _way_out(self) -> str:
        parameters = self.signature.parameters.values() if self.signature is not None else ()
        return f". Call it as ({', '.join(map(_spell, parameters))})."


def resolved_hints(owner: Callable[..., object] | type) -> dict[str, object]:
    """Resolve annotations, each alone if need be; those that do not resolve are left out."""
    try:
        return dict(typing.get_type_hints(owner, include_extras=True))
    except Exception:  # noqa: BLE001 - an annotation is any expression
        return _resolvable_hints(owner)


def _resolvable_hints(owner: Callable[..., object] | type) -> dict[str, object]:
    names: dict[str, object] = getattr(owner, "__globals__", None) or vars(sys.modules.get(owner.__module__, typing))
    hints: dict[str, object] = {}
    for name, annotation in _annotations(owner).items():
        single = types.SimpleNamespace(__annotations__={name: annotation})
        try:
            hints.update(typing.get_type_hints(single, globalns=names, include_extras=True))
        except Exception:  # noqa: BLE001, S112 - the parameter stays plain JSON
            continue
    return hints


def _annotations(owner: Callable[..., object] | type) -> dict[str, object]:
    if sys.version_info >= (3, 14):
        return annotationlib.get_annotations(owner, format=annotationlib.Format.FORWARDREF)
    return inspect.get_annotations(owner)


def _signature(function: Callable[..., object]) -> inspect.Signature | None:
    """Read a signature; some callables written in C have none."""
    try:
        if sys.version_info >= (3, 14):
            return inspect.signature(function, annotation_format=annotationlib.Format.FORWARDREF)
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _required(parameter: inspect.Parameter) -> bool:
    starred = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and not starred


def _by_name(parameter: inspect.Parameter) -> bool:
    return parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)


def _spell(parameter: inspect.Parameter) -> str:
    """Spell a parameter without its annotation, which may be long."""
    stars = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(parameter.kind.name, "")
    return f"{stars}{parameter.name}" if stars or parameter.default is parameter.empty else f"{parameter.name}=..."

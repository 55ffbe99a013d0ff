"""Which Oxpull a command is about: one for a URL, or one that a module holds."""

import asyncio
import importlib
import os
import sys
import traceback
from collections.abc import Awaitable, Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from oxpull_async.app.open_database import ENVIRONMENT
from oxpull_async.app.oxpull import Oxpull
from oxpull_async.cli.output import masked

_PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Target:
    """The database of a command, and whether it answers in JSON."""

    url: str | None
    app: str | None
    as_json: bool

    def oxpull(self) -> Oxpull:
        """Return the Oxpull that is meant.

        Raises: click.UsageError where none or two are named.
        """
        if self.url and self.app:
            raise click.UsageError("--url and --app exclude each other: the app's Oxpull has its database")
        if self.app:
            return load_app(self.app)
        if not self.url and not os.environ.get(ENVIRONMENT):
            raise click.UsageError(f"no database: give --url or --app module:ox, or set {ENVIRONMENT}")
        return Oxpull(self.url)

    def run[T](self, work: Callable[[Oxpull], Awaitable[T]]) -> T:
        """Run a coroutine function with the Oxpull, which is closed afterwards.

        Raises: NotMigrated or SchemaTooNew before anything is done where the schema is not this version's.
        """

        async def checked(ox: Oxpull) -> T:
            await ox.check_schema()
            return await work(ox)

        return run_with(self.oxpull(), checked)


def run_with[T](ox: Oxpull, work: Callable[[Oxpull], Awaitable[T]]) -> T:
    """Run a coroutine function on an event loop of its own and close the Oxpull's pool."""

    async def main() -> T:
        async with ox:
            return await work(ox)

    return asyncio.run(main())


def load_app(spec: str) -> Oxpull:
    """Return the Oxpull that `module:name` names; without a name, the only one in the module.

    Raises: click.ClickException saying what is wrong with the module or the name.
    """
    module_name, _, name = spec.partition(":")
    if module_name.endswith(".py"):
        meant = module_name.removesuffix(".py").strip("./").replace("/", ".")
        raise click.ClickException(f"{module_name!r} is a file: name its module, {meant}:{name or 'ox'}")
    if not all(part.isidentifier() for part in module_name.split(".")):
        raise click.ClickException(f"{module_name!r} is no module name: write it like shop.tasks:ox")
    module = _import(module_name)
    return _attribute(module, name) if name else _only_oxpull(module)


def _import(name: str) -> ModuleType:
    """Import a module of the working directory; what it prints goes to stderr, where it harms no JSON."""
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        with redirect_stdout(sys.stderr):
            return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name and f"{name}.".startswith(f"{missing.name}."):
            raise click.ClickException(f"there is no module {missing.name!r} in {here} or on sys.path") from missing
        raise _broken(name, missing) from missing
    except (Exception, SystemExit) as error:
        raise _broken(name, error) from error


def _broken(name: str, error: BaseException) -> click.ClickException:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if _is_theirs(f.filename)]
    where = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    said = masked("".join(traceback.format_exception_only(error)).strip())
    return click.ClickException(f"importing {name!r} failed: {said}{where}")


def _is_theirs(filename: str) -> bool:
    """Whether a frame is of the module that was to be imported, and not of what imported it."""
    return not filename.startswith("<frozen") and "importlib" not in filename and _PACKAGE not in Path(filename).parents


def _attribute(module: ModuleType, path: str) -> Oxpull:
    found: Any = module
    for part in path.split("."):
        if not hasattr(found, part):
            raise click.ClickException(f"module {module.__name__!r} has no attribute {path!r}{_offer(module)}")
        found = getattr(found, part)
    if not isinstance(found, Oxpull):
        kind = type(found).__name__
        raise click.ClickException(f"{module.__name__}:{path} is no Oxpull but of type {kind}{_offer(module)}")
    return found


def _only_oxpull(module: ModuleType) -> Oxpull:
    found = _oxpulls(module)
    if not found:
        raise click.ClickException(f"module {module.__name__!r} holds no Oxpull: write ox = Oxpull(…) in it")
    if len({id(ox) for ox in found.values()}) > 1:
        names = " or ".join(f"{module.__name__}:{name}" for name in found)
        raise click.ClickException(f"module {module.__name__!r} holds several Oxpulls: write {names}")
    return next(iter(found.values()))


def _oxpulls(module: ModuleType) -> dict[str, Oxpull]:
    return {name: value for name, value in vars(module).items() if isinstance(value, Oxpull)}


def _offer(module: ModuleType) -> str:
    names = [f"{module.__name__}:{name}" for name in _oxpulls(module)]
    return f"; there is {' and '.join(names)}" if names else ""

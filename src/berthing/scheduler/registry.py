"""Every plugin that a configuration may name: kube-scheduler's own, and those of installed packages.

A package offers a plugin by an entry point in the group `berthing.plugins`, whose name is the
plugin's and whose value is its class:

    [project.entry-points."berthing.plugins"]
    NearData = "near_data.plugin:NearData"

A package that is broken is a problem of that package: it is reported, and the rest goes on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points

import msgspec

from berthing import __version__
from berthing.config.default_plugins import IN_TREE
from berthing.config.schema import args_schema
from berthing.framework import Plugin, points_of
from berthing.plugins.built_in import BUILT_IN, COMPLETE

ENTRY_POINT_GROUP = "berthing.plugins"

_COMPLETE = frozenset(plugin.name for plugin in COMPLETE)


class Registration(msgspec.Struct, frozen=True):
    """One plugin: what configurations call it, where it takes part, and who brought it.

    `plugin` is None for those of kube-scheduler's own that can be configured, but that this
    version of Berthing does not run.  One that is not complete runs, and refuses pods that it
    would have to decide about.
    """

    name: str
    points: tuple[str, ...]
    package: str
    version: str
    args_type: type[msgspec.Struct] | None = None
    plugin: type[Plugin] | None = None
    is_complete: bool = True


class Problem(msgspec.Struct, frozen=True):
    """A plugin that an installed package offers and that cannot be used, and why."""

    name: str
    package: str
    message: str

    def __str__(self) -> str:
        return f"plugin {self.name} of package {self.package}: {self.message}"


class Registry:
    """Plugins by name, and the ones that could not be had."""

    def __init__(self, registrations: Iterable[Registration], problems: Iterable[Problem]) -> None:
        self.registrations: Mapping[str, Registration] = {item.name: item for item in registrations}
        self.problems = tuple(problems)

    @property
    def catalogue(self) -> Mapping[str, Collection[str]]:
        """The extension points of each plugin, as the configuration's reader wants them."""
        return {name: item.points for name, item in self.registrations.items()}

    @property
    def args_types(self) -> Mapping[str, type[msgspec.Struct]]:
        """The args of each plugin that takes some."""
        return {
            name: item.args_type
            for name, item in self.registrations.items()
            if item.args_type is not None
        }


def discover(offered: Iterable[EntryPoint] | None = None) -> Registry:
    """All plugins there are: kube-scheduler's own first, then those of installed packages."""
    found = entry_points(group=ENTRY_POINT_GROUP) if offered is None else offered
    registrations = {item.name: item for item in _in_tree()}
    problems: list[Problem] = []
    for entry_point in sorted(found, key=lambda entry: (entry.name, _package(entry))):
        try:
            registration = _registration(entry_point, registrations)
        except _UnusableError as error:
            problems.append(Problem(entry_point.name, _package(entry_point), str(error)))
        else:
            registrations[registration.name] = registration
    return Registry(registrations.values(), problems)


class _UnusableError(Exception):
    """Why an offered plugin cannot be used."""


def _in_tree() -> Iterable[Registration]:
    for name, facts in IN_TREE.items():
        yield Registration(
            name,
            tuple(facts.points),
            "berthing",
            __version__,
            facts.args,
            BUILT_IN.get(name),
            is_complete=name in _COMPLETE,
        )


def _registration(entry_point: EntryPoint, earlier: Mapping[str, Registration]) -> Registration:
    if entry_point.name in earlier:
        package = earlier[entry_point.name].package
        raise _UnusableError(f"package {package} has a plugin of that name already")
    plugin = _load(entry_point)
    name = getattr(plugin, "name", None)
    if name != entry_point.name:
        raise _UnusableError(
            f"the entry point is called {entry_point.name!r}, its class says name = {name!r}; "
            "give both one name"
        )
    points = points_of(plugin)
    if not points:
        raise _UnusableError(
            f"{plugin.__name__} takes part in no extension point; "
            "derive it from FilterPlugin, ScorePlugin, ..."
        )
    _check_args_type(plugin.args_type)
    return Registration(
        entry_point.name,
        tuple(points),
        _package(entry_point),
        entry_point.dist.version if entry_point.dist else "",
        plugin.args_type,
        plugin,
    )


def _load(entry_point: EntryPoint) -> type[Plugin]:
    try:
        loaded: object = entry_point.load()
    except (Exception, SystemExit) as error:
        # A module that ends the process when imported is broken like any other.
        raise _UnusableError(
            f"{entry_point.value} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    if not (isinstance(loaded, type) and issubclass(loaded, Plugin)):
        raise _UnusableError(
            f"{entry_point.value} is not a plugin class; derive it from berthing.framework.Plugin"
        )
    return loaded


def _check_args_type(args_type: object) -> None:
    if args_type is None:
        return
    if not (isinstance(args_type, type) and issubclass(args_type, msgspec.Struct)):
        raise _UnusableError(f"args_type is {args_type!r}; name a msgspec.Struct, or leave it out")
    try:
        msgspec.json.encode(args_schema(args_type))
    except Exception as error:
        # Annotations that cannot be looked up, types that no file can say: better now than in
        # the middle of somebody's configuration.
        raise _UnusableError(
            f"args_type {args_type.__name__} cannot be read from a configuration: "
            f"{type(error).__name__}: {error}"
        ) from error


def _package(entry_point: EntryPoint) -> str:
    return entry_point.dist.name if entry_point.dist else entry_point.value.partition(":")[0]

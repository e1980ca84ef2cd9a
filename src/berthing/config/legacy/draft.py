"""A profile between its old form and v1: what each point enables and disables, and the args.

A draft holds the lists as the file has them, beside the defaults of the file's version:
`running` tells what ran at a point under the rules of that version.  Next, `replacements`
rewrites plugins that are gone, and `profile` writes the draft down in v1.

Upstream: mergePlugins in pkg/scheduler/apis/config/{v1beta1,v1beta2,v1beta3}/default_plugins.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from berthing.config.findings import Path
from berthing.config.legacy.conversion import Origin
from berthing.config.legacy.versions import Weights
from berthing.config.v1 import ALL_PLUGINS, MULTI_POINT


class Entry(msgspec.Struct, frozen=True):
    """A plugin as a list names it; `by_default` if it runs without the file saying so."""

    name: str
    weight: int | None = None
    origin: Path = ()
    by_default: bool = False

    def renamed(self, name: str) -> Entry:
        """Another plugin in the same place of the file."""
        return Entry(name, self.weight, self.origin)

    def unweighted(self) -> Entry:
        """The same for a point where weights mean nothing."""
        return Entry(self.name, None, self.origin)


@dataclass
class Lists:
    """What the file enables and disables at one point."""

    enabled: list[Entry] = field(default_factory=list)
    disabled: list[Entry] = field(default_factory=list)

    def disables(self, name: str) -> bool:
        """True if the plugin is switched off by its name."""
        return any(entry.name == name for entry in self.disabled)

    def disabled_names(self) -> set[str]:
        """All that is switched off by name."""
        return {entry.name for entry in self.disabled}

    def forget(self, *names: str) -> None:
        """Name these plugins no more, enabled or disabled."""
        self.enabled = [entry for entry in self.enabled if entry.name not in names]
        self.disabled = [entry for entry in self.disabled if entry.name not in names]

    def replace(self, old: Entry, name: str) -> None:
        """Enable another plugin where `old` stands, instead of wherever it stood itself."""
        place = self.enabled.index(old)
        self.enabled[place] = old.renamed(name)
        self.disabled = [entry for entry in self.disabled if entry.name != name]


@dataclass
class Args:
    """The args of one plugin as v1 will have them.

    `parts` tells for what was added, by its path within the args, where in the file it comes from.
    `written` is false if the file has no args for this plugin: all of them were added.
    """

    name: str
    value: object
    origin: Path
    written: bool = True
    parts: dict[Path, Origin] = field(default_factory=dict)

    def fields(self) -> dict[str, object]:
        """The args as an object; empty where the file gives none."""
        return dict(self.value) if isinstance(self.value, dict) else {}


class LabelRule(msgspec.Struct, frozen=True):
    """That nodes should have a label, whatever its value, or should not."""

    label: str
    present: bool
    origin: Path


class Strategy(msgspec.Struct, frozen=True):
    """How a former plugin for node resources scored, in the words of a scoringStrategy.

    `parts` as in `Args`; without `fields` the plugin's defaults held, which are today's.
    """

    origin: Path
    fields: Mapping[str, object] = {}
    parts: Mapping[Path, Origin] = {}


class Draft:
    """One profile on its way to v1.

    What NodeLabel and the former plugins for node resources were told is kept apart from `args`:
    `required_labels` and `preferred_labels`, and `strategies` by plugin.
    """

    def __init__(self, defaults: Mapping[str, Weights], path: Path) -> None:
        self.defaults = defaults
        self.path = path
        self.points: dict[str, Lists] = {}
        self.args: list[Args] = []
        self.required_labels: list[LabelRule] = []
        self.preferred_labels: list[LabelRule] = []
        self.strategies: dict[str, Strategy] = {}

    def at(self, point: str) -> Lists:
        """The lists of a point, to be read or changed."""
        return self.points.setdefault(point, Lists())

    def stands_alone(self, point: str) -> bool:
        """True where the file switches all defaults off, and so lists all that runs."""
        return self.at(point).disables(ALL_PLUGINS)

    def running(self, point: str) -> list[Entry]:
        """What ran at the point, in order, under the rules of the old version.

        With multiPoint this may name plugins that have no part in the point.
        """
        entries = self._merged(point)
        if MULTI_POINT not in self.defaults or point == MULTI_POINT or self.stands_alone(point):
            return entries
        not_spread = {entry.name for entry in entries} | self.at(point).disabled_names()
        spread = (entry for entry in self._merged(MULTI_POINT) if entry.name not in not_spread)
        return [*spread, *entries]

    def find(self, point: str, name: str) -> Entry | None:
        """How a plugin ran at the point, if it did."""
        return next((entry for entry in self.running(point) if entry.name == name), None)

    def forget(self, *names: str) -> None:
        """Name these plugins no more at any point."""
        for lists in self.points.values():
            lists.forget(*names)

    def mentions(self, names: Iterable[str]) -> list[Entry]:
        """Where the file enables any of these plugins, at all points."""
        wanted = frozenset(names)
        return [
            entry
            for lists in self.points.values()
            for entry in lists.enabled
            if entry.name in wanted
        ]

    def args_of(self, name: str) -> Args | None:
        """The args that the file gives a plugin."""
        return next((args for args in self.args if args.name == name), None)

    def make_args(self, name: str, origin: Path) -> Args:
        """The args of a plugin, to be added to; new ones if the file has none."""
        args = self.args_of(name)
        if args is None:
            args = Args(name, {}, origin, written=False)
            self.args.append(args)
        return args

    def _merged(self, point: str) -> list[Entry]:
        lists = self.at(point)
        disabled = lists.disabled_names()
        kept = {
            name: weight
            for name, weight in self.defaults.get(point, {}).items()
            if not {ALL_PLUGINS, name} & disabled
        }
        # Naming a default again replaces it in its place; naming it twice is its own mistake.
        latest = {entry.name: entry for entry in lists.enabled}
        in_place = [
            latest.get(name, Entry(name, weight, by_default=True)) for name, weight in kept.items()
        ]
        added = [
            entry
            for entry in lists.enabled
            if entry.name not in kept or entry is not latest[entry.name]
        ]
        return in_place + added

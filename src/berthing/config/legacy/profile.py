"""Writes drafts down as profiles of v1, and keeps track of where each part came from."""

from __future__ import annotations

from berthing.config.findings import Path
from berthing.config.legacy.conversion import Origin
from berthing.config.legacy.draft import Args, Draft, Entry
from berthing.config.v1 import EXTENSION_POINTS, MULTI_POINT


def write_profile(
    draft: Draft, scheduler_name: object, path: Path, origins: dict[Path, Origin]
) -> dict[str, object]:
    """The profile that stands at `path` of the new tree; a name of None is not written."""
    profile: dict[str, object] = {}
    if scheduler_name is not None:
        profile["schedulerName"] = scheduler_name
    if plugins := _plugins(draft, (*path, "plugins"), origins):
        profile["plugins"] = plugins
    if config := _plugin_config(draft, (*path, "pluginConfig"), origins):
        profile["pluginConfig"] = config
    return profile


def _plugins(
    draft: Draft, path: Path, origins: dict[Path, Origin]
) -> dict[str, dict[str, list[dict[str, object]]]]:
    plugins: dict[str, dict[str, list[dict[str, object]]]] = {}
    for point in (MULTI_POINT, *EXTENSION_POINTS):
        lists = draft.at(point)
        for key, entries in (("disabled", lists.disabled), ("enabled", lists.enabled)):
            if entries:
                plugins.setdefault(point, {})[key] = [*map(_plugin, entries)]
            for index, entry in enumerate(entries):
                origins[*path, point, key, index] = (
                    Origin(entry.origin) if entry.origin else Origin(draft.path, same_below=False)
                )
    return plugins


def _plugin(entry: Entry) -> dict[str, object]:
    if entry.weight is None:
        return {"name": entry.name}
    return {"name": entry.name, "weight": entry.weight}


def _plugin_config(
    draft: Draft, path: Path, origins: dict[Path, Origin]
) -> list[dict[str, object]]:
    for index, args in enumerate(draft.args):
        _record(args, (*path, index), origins)
    return [
        {"name": args.name} if args.value is None else {"name": args.name, "args": args.value}
        for args in draft.args
    ]


def _record(args: Args, path: Path, origins: dict[Path, Origin]) -> None:
    # The path of written args ends in "args".
    origins[path] = (
        Origin(args.origin[:-1]) if args.written else Origin(args.origin, same_below=False)
    )
    for part, origin in args.parts.items():
        origins[*path, "args", *part] = origin

"""Whatever a profile enables and disables, what runs follows from it in the same way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from berthing.config.default_plugins import IN_TREE_CATALOGUE, default_plugins
from berthing.config.features import FeatureGates
from berthing.config.findings import Findings
from berthing.config.profile import Origin, expand, merge
from berthing.config.v1 import EXTENSION_POINTS, Plugin, Plugins, PluginSet

NAMES = sorted(IN_TREE_CATALOGUE)
DEFAULTS = default_plugins(FeatureGates())


def entries(names: list[str]) -> st.SearchStrategy[tuple[Plugin, ...]]:
    weights = st.none() | st.integers(0, 9)
    plugin = st.builds(
        lambda name, weight: Plugin(name=name, weight=weight), st.sampled_from(names), weights
    )
    return st.lists(plugin, max_size=4, unique_by=lambda plugin: plugin.name).map(tuple)


def plugin_set(point: str) -> st.SearchStrategy[PluginSet]:
    fitting = [name for name in NAMES if point in IN_TREE_CATALOGUE[name]]
    return st.builds(
        lambda enabled, disabled: PluginSet(enabled=enabled, disabled=disabled),
        entries(fitting) if fitting else st.just(()),
        entries([*NAMES, "*"]),
    )


changes = st.fixed_dictionaries(
    {point: plugin_set(point) for point in EXTENSION_POINTS}
    | {
        "multiPoint": st.builds(
            lambda enabled, disabled: PluginSet(enabled=enabled, disabled=disabled),
            entries(NAMES),
            entries([*NAMES, "*"]),
        )
    }
).map(Plugins.of)


@given(changes)
def test_who_runs_and_who_does_not(plugins: Plugins) -> None:
    running = expand(merge(plugins, DEFAULTS), IN_TREE_CATALOGUE, Findings())
    sets = dict(plugins.sets())
    everywhere = sets["multiPoint"]
    for point in EXTENSION_POINTS:
        names = [plugin.name for plugin in running[point]]
        listed = [plugin.name for plugin in sets[point].enabled]
        off = {plugin.name for plugin in sets[point].disabled}
        assert len(set(names)) == len(names)
        assert all(point in IN_TREE_CATALOGUE[name] for name in names)
        assert set(listed) <= set(names)
        for name in set(names) - set(listed):
            assert not {name, "*"} & off
            assert name in {plugin.name for plugin in (*DEFAULTS, *everywhere.enabled)}


@given(changes)
def test_weights_are_those_of_the_nearest_entry(plugins: Plugins) -> None:
    running = expand(merge(plugins, DEFAULTS), IN_TREE_CATALOGUE, Findings())
    sets = dict(plugins.sets())
    usual = {plugin.name: plugin for plugin in DEFAULTS}
    for point in ("score", "placementScore"):
        for plugin in running[point]:
            key = point if plugin.origin is Origin.EXPLICIT else "multiPoint"
            asked = {each.name: each for each in sets[key].enabled}
            entry = asked.get(plugin.name) or usual[plugin.name]
            assert plugin.weight == (entry.weight or 1)

from __future__ import annotations

from importlib.metadata import distributions
from pathlib import Path

import pytest

from berthing.config.default_plugins import IN_TREE
from berthing.config.v1 import EXTENSION_POINTS
from berthing.framework import ExtensionPoint
from berthing.scheduler.registry import ENTRY_POINT_GROUP, Registry, discover

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugin" / "src"

GOOD = """
from berthing.framework import ScorePlugin
class {name}(ScorePlugin):
    name = "{name}"
    def score(self, state, pod, node):
        return 1
"""


class Packages:
    """Packages as an installer leaves them, in a folder of the test."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        monkeypatch.syspath_prepend(str(folder))

    def install(self, package: str, code: str, *, version: str = "1.0", **offers: str) -> None:
        module = package.replace("-", "_")
        (self._folder / f"{module}.py").write_text(code)
        info = self._folder / f"{module}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
        )
        lines = [f"{name} = {module}:{attribute}" for name, attribute in offers.items()]
        (info / "entry_points.txt").write_text("\n".join([f"[{ENTRY_POINT_GROUP}]", *lines, ""]))

    def discover(self) -> Registry:
        found = [
            entry_point
            for distribution in distributions(path=[str(self._folder)])
            for entry_point in distribution.entry_points
        ]
        return discover(found)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Packages:
    return Packages(tmp_path, monkeypatch)


def test_kube_schedulers_own_plugins_are_there() -> None:
    registry = discover([])
    assert list(registry.registrations) == list(IN_TREE)
    assert registry.registrations["NodeName"].package == "berthing"
    assert registry.catalogue["TaintToleration"] == ("filter", "preScore", "score")
    assert registry.problems == ()


def test_configuration_and_framework_mean_the_same_extension_points() -> None:
    assert tuple(point.value for point in ExtensionPoint) == EXTENSION_POINTS


def test_an_installed_package_adds_its_plugin(packages: Packages) -> None:
    packages.install("near-one", GOOD.format(name="Near"), version="2.3", Near="Near")
    registration = packages.discover().registrations["Near"]
    assert registration.points == (ExtensionPoint.SCORE,)
    assert (registration.package, registration.version) == ("near-one", "2.3")
    assert registration.plugin is not None


@pytest.mark.parametrize(
    ("code", "message"),
    [
        pytest.param(
            "import nowhere_to_be_found",
            "cannot be imported: ModuleNotFoundError: No module named 'nowhere_to_be_found'",
            id="a package that does not import",
        ),
        pytest.param("X = 3", "is not a plugin class; derive it from", id="not a class"),
        pytest.param(
            "class X: name = 'X'", "is not a plugin class; derive it from", id="another class"
        ),
        pytest.param(
            GOOD.format(name="Y") + "X = Y",
            "the entry point is called 'X', its class says name = 'Y'; give both one name",
            id="two names",
        ),
        pytest.param(
            "from berthing.framework import Plugin\nclass X(Plugin): name = 'X'",
            "takes part in no extension point; derive it from FilterPlugin, ScorePlugin, ...",
            id="nothing to do",
        ),
        pytest.param(
            GOOD.format(name="X") + "X.args_type = dict",
            "args_type is <class 'dict'>; name a msgspec.Struct, or leave it out",
            id="args that are no Struct",
        ),
        pytest.param(
            GOOD.format(name="X") + "import msgspec\n"
            "class Args(msgspec.Struct): limit: 'Price' = None\nX.args_type = Args",
            "args_type Args cannot be read from a configuration: NameError: name 'Price'",
            id="args of a type that is only there for type checkers",
        ),
        pytest.param(
            GOOD.format(name="X") + "import msgspec\n"
            "class Args(msgspec.Struct): turn: complex = 1j\nX.args_type = Args",
            "args_type Args cannot be read from a configuration: TypeError",
            id="args that no file can say",
        ),
        pytest.param("raise SystemError", "SystemError", id="a module that raises"),
        pytest.param("raise SystemExit(7)", "SystemExit: 7", id="a module that ends the process"),
    ],
)
def test_a_broken_package_is_its_own_problem(
    packages: Packages, request: pytest.FixtureRequest, code: str, message: str
) -> None:
    # A module name of its own for each case: imports are remembered for the whole process.
    package = f"broken-{abs(hash(request.node.name))}"
    packages.install(package, code, X="X")
    registry = packages.discover()
    assert "X" not in registry.registrations
    (problem,) = registry.problems
    assert (problem.name, problem.package) == ("X", package)
    assert message in problem.message


def test_a_built_in_name_is_taken(packages: Packages) -> None:
    packages.install("pretender", GOOD.format(name="NodeName"), NodeName="NodeName")
    registry = packages.discover()
    assert registry.registrations["NodeName"].package == "berthing"
    assert str(registry.problems[0]) == (
        "plugin NodeName of package pretender: package berthing has a plugin of that name already"
    )


def test_of_two_packages_with_one_name_the_first_by_name_wins(packages: Packages) -> None:
    packages.install("bbb-twin", GOOD.format(name="Twin"), Twin="Twin")
    packages.install("aaa-twin", GOOD.format(name="Twin"), Twin="Twin")
    registry = packages.discover()
    assert registry.registrations["Twin"].package == "aaa-twin"
    assert [problem.package for problem in registry.problems] == ["bbb-twin"]

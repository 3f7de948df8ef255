"""The JSON schemas for editors fit the shipped files, whose first lines name them."""

import importlib.metadata
import json
import pathlib
import re
import tomllib
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tests.docs.pages import ROOT

BENCHES = sorted((ROOT / "data").glob("*/bench.toml"))
SETS = sorted((ROOT / "judge_prompts").glob("*/judge_set.toml"))
PROJECT = ROOT / "harness" / "cli" / "turnbench.toml"
CONSTRAINTS = ROOT / "constraints.txt"


@pytest.mark.parametrize("path", [*BENCHES, *SETS, PROJECT], ids=lambda path: path.parent.name)
def test_a_shipped_file_names_a_schema_that_has_its_keys(path: pathlib.Path) -> None:
    first, _, text = path.read_text(encoding="utf-8").partition("\n")
    schema = json.loads((path.parent / first.removeprefix("#:schema ")).read_text(encoding="utf-8"))
    definition = schema["$defs"][schema["$ref"].rpartition("/")[2]]
    assert definition["additionalProperties"] is False
    assert tomllib.loads(text).keys() <= definition["properties"].keys()


def test_fields_that_are_described_are_described_in_the_schema() -> None:
    schema = json.loads((ROOT / "data" / "bench.schema.json").read_text(encoding="utf-8"))
    properties: dict[str, Any] = schema["$defs"]["Settings"]["properties"]
    assert properties["canary"]["description"].startswith("A text that identifies the set")


def test_every_package_that_is_asked_for_has_a_tested_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = _tested()
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    for need in map(Requirement, wanted):
        assert need.specifier.contains(versions[_plain(need.name)]), need


def test_every_tested_version_is_for_the_oldest_python() -> None:
    tested = _tested()
    least = {
        one.name: one.metadata["Requires-Python"] or ""
        for one in importlib.metadata.distributions()
        if tested.get(_plain(one.name)) == one.version
    }
    assert len(least) > 100
    assert not [name for name, need in least.items() if "3.11.0" not in SpecifierSet(need)]


def _tested() -> dict[str, str]:
    lines = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    pairs = (line.split("==") for line in lines if not line.startswith("#"))
    return {_plain(name): version for name, version in pairs}


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()

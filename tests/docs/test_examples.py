"""The examples run as they stand."""

import asyncio
import os
import pathlib
import subprocess
import sys
import tomllib
from typing import Any

import pytest

from docs.screenshots import PICTURES, words_in, words_of
from harness.cli import calls
from harness.cli.main import init
from harness.errors import ChatError, TransientError
from harness.models import Endpoint
from tests.docs.pages import DOCS, ROOT, blocks, pages
from tests.models.asking import request
from tests.servers import Rule, Server, unused_url
from viewer.app import Views
from viewer.data import Home


def start(*words: str, folder: pathlib.Path) -> "subprocess.CompletedProcess[str]":
    path = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_demo_shows_results_and_ends_with_the_viewer(tmp_path: pathlib.Path) -> None:
    demo = start("sh", str(ROOT / "examples" / "demo.sh"), "demo", folder=tmp_path)
    assert demo.returncode == 0, demo.stderr
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("```text\n")[2].partition("```")[0].strip().split("\n\n")
    assert [paragraph for paragraph in shown if paragraph not in demo.stdout] == []
    assert demo.stdout.rstrip().endswith("viewer --data-dir demo")
    views = Views(Home(str(tmp_path / "demo")))
    older = [name for name in PICTURES if words_of(views, name) != words_in(name)]
    assert older == [], "pages say something else than their pictures: make pictures"
    python = start(sys.executable, str(ROOT / "examples" / "python_api.py"), folder=tmp_path)
    assert python.returncode == 0, python.stderr
    assert "0 answers written" in python.stdout
    assert "builtin/reference" in (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")


def modules() -> dict[str, str]:
    """Return the Python files of the documentation, by their names."""
    return {
        block.mark.removeprefix("file: "): block.text
        for path in pages()
        for block in blocks(path)
        if block.mark.startswith("file: ") and block.mark.endswith(".py")
    }


def test_the_code_of_the_documentation_passes_mypy(tmp_path: pathlib.Path) -> None:
    checks = {
        words[1]: text.partition("\n")[2]
        for text in (DOCS / "extending.md").read_text(encoding="utf-8").split("\n```")
        if (words := text.partition("\n")[0].split())[:1] == ["python"] and len(words) == 2
    }
    found = {name.replace("/", "_"): text for name, text in {**modules(), **checks}.items()}
    for name, text in found.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    flags = [
        "--config-file",
        str(ROOT / "pyproject.toml"),
        "--cache-dir",
        str(ROOT / ".mypy_cache"),
    ]
    files = [str(tmp_path / name) for name in found]
    done = start(sys.executable, "-m", "mypy", *flags, *files, folder=ROOT)
    assert done.returncode == 0, done.stdout
    assert len(found) == 3


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        (None, "no connection"),
        (Rule(status=429), "rate limit"),
        (Rule(status=500), "server error"),
        (Rule(status=400), "error"),
    ],
)
def test_the_provider_of_the_documentation_fails_as_it_should(rule: Rule | None, kind: str) -> None:
    module: dict[str, Any] = {}
    exec(modules()["shop_tools.py"], module)

    async def ask(url: str) -> None:
        model = module["open"](Endpoint(name="m", provider="gateway", model="m", base_url=url))
        try:
            await model.reply(request("Hi."))
        finally:
            await model.close()

    with Server(*([rule] if rule else [])) as server, pytest.raises(ChatError) as error:
        asyncio.run(ask(server.url if rule else unused_url()))
    assert error.value.kind == kind
    assert isinstance(error.value, TransientError) == (kind != "error")


@pytest.mark.reference
def test_the_readme_has_what_its_command_recomputes(reference_data: pathlib.Path) -> None:
    words = [sys.executable, "-m", "benchmarks.judge_agreement", str(reference_data / "mt_bench")]
    table = start(*words, folder=ROOT).stdout.partition("\n\n")[0]
    assert table in (ROOT / "README.md").read_text(encoding="utf-8")
    assert table.count("\n") == 6


def test_every_line_of_the_first_turnbench_toml_may_be_used(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert init(["-q"]) == 0
    path = tmp_path / "turnbench.toml"
    lines = path.read_text(encoding="utf-8").splitlines()
    used = [line.removeprefix("# ") for line in lines if " = " in line or line.startswith("# [")]
    path.write_text("\n".join(used), encoding="utf-8")
    assert tomllib.loads("\n".join(used))["judge_set"] == "mt_bench"
    assert calls.configs()["my-model"].base_url == "http://localhost:8000/v1"

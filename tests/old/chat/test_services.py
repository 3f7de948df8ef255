"""A provider is one file and one line in the table; what HTTP statuses mean is said in one place."""

import ast
import http.server
import json
import pathlib
import threading
from collections.abc import Iterator

import pytest

from harness.old.answering import AnswerOptions, plan_answers, run_answers
from harness.old.chat import faults, resolve
from harness.old.chat.faults import RETRIED, Retried, fault_of_status
from harness.old.chat.services import PROVIDERS
from harness.old.errors import EndpointError, TransientError, UsageError
from tests.old.small_bench import small_bench

CHAT = pathlib.Path(faults.__file__).parent


class Desk(http.server.BaseHTTPRequestHandler):
    """Answers notes; every one that is tried the first time with a 503."""

    seen: set[bytes]

    def do_POST(self) -> None:
        """Answer one note."""
        note = self.rfile.read(int(self.headers["content-length"]))
        again, self.seen = note in self.seen, self.seen | {note}
        type(self).seen = self.seen
        wrong = self.headers["x-pass"] != "sesame"
        self.send_response(401 if wrong else 201 if again else 503)
        self.end_headers()
        said = {"error": {"message": f"not with {self.headers['x-pass']}"}} if wrong else {"note": "four", "words": 1}
        self.wfile.write(json.dumps(said).encode())

    def log_message(self, *words: object) -> None:
        """Say nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    Desk.seen = set()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Desk) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(autouse=True)
def _one_line_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROVIDERS, "notes", "tests.old.chat.spoken_notes")


def test_a_provider_with_one_line_in_the_table_answers_a_benchmark(
    address: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTES_PASS", "sesame")
    monkeypatch.setenv("NOTES_ADDRESS", address)
    bench = small_bench(tmp_path)
    report = run_answers(plan_answers(["note-taker"], bench, AnswerOptions()))
    rows = [json.loads(line) for line in bench.answer_file("note-taker").read_text().splitlines()]
    assert report.complete
    assert report.tally.retries > 0
    assert {turn for row in rows for turn in row["choices"][0]["turns"]} == {"four"}


def test_its_errors_and_key_are_treated_as_everybodys(
    address: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTES_PASS", "wrong-pass")
    monkeypatch.setenv("NOTES_ADDRESS", address)
    bench = small_bench(tmp_path)
    with pytest.raises(EndpointError, match=r"401: not with \[key\]; check the key in NOTES_PASS"):
        run_answers(plan_answers(["note-taker"], bench, AnswerOptions()))


def test_its_names_are_proposed_and_models_toml_knows_it(address: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(UsageError, match=r"did you mean note-taker\?.*, note-"):
        resolve("not-taker", environ={})
    file = tmp_path / "models.toml"
    file.write_text(f'[models.mine]\nprovider = "notes"\nbase_url = "{address}"\n')
    assert resolve("mine", models=file, environ={}).provider == "notes"


@pytest.mark.parametrize("after", [None, 10.0])
def test_a_status_is_tried_again_because_of_one_line(after: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = resolve("m", base_url="http://host/v1")
    assert not isinstance(fault_of_status(418, None, endpoint), TransientError)
    monkeypatch.setattr(faults, "RETRIED", {**RETRIED, 418: Retried("overload", after)})
    fault = fault_of_status(418, None, endpoint)
    assert isinstance(fault, TransientError)
    assert (fault.kind, fault.retry_after) == ("overload", after)


def imports(path: pathlib.Path) -> set[str]:
    """Return the modules of the room that a module imports, wherever in it, but for the sake of types only."""
    tree = ast.parse(path.read_text())
    typing = [n for n in ast.walk(tree) if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test)]
    skipped = {id(node) for block in typing for node in ast.walk(block)}
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and id(node) not in skipped:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def test_no_module_of_the_room_imports_one_that_imports_it() -> None:
    modules = {f"harness.old.chat.{path.stem}": path for path in CHAT.glob("*.py") if path.stem != "__init__"}
    needs = {name: imports(path) & modules.keys() for name, path in modules.items()}
    while free := [name for name, needed in needs.items() if not needed & needs.keys()]:
        for name in free:
            del needs[name]
    assert needs == {}

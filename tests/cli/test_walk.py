"""The first hour of a new user: own questions, a real small model, three judges, votes.

Every screen on the way is asked the same questions, and printed commands are run.
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from harness.bench import load
from harness.results import read
from tests import small_model
from tests.servers import Call, Rule, Server

pytestmark = small_model.marks
QUESTIONS = [
    ("facts", ["Which planet is the largest?", "And the smallest?"]),
    ("facts", ["What is the capital of Hungary?", "On which river does it lie?"]),
    ("cooking", ["How do I boil an egg?", "And for a soft one?"]),
    ("cooking", ["What goes into a tomato soup?", "I have no onions. What instead?"]),
    ("writing", ["Write one sentence about rain.", "Now about snow."]),
    ("writing", ["Write a title for a story about a cat.", "And one about a dog."]),
    ("math", ["What is 12 times 12?", "And plus 6?"]),
    ("math", ["What is half of 90?", "And a third of it?"]),
]
REFERENCES = {7: ["144", "150"], 8: ["45", "15"]}
LIMITS = {"short": 8, "long": 32, "self": 64}
SHOWN = re.compile(r"<<<text \w+>>>\n(.*?)\n<<<end", re.DOTALL)


def judge(call: Call) -> str:
    """Judge with some sense: the more words an answer has, the better it is, up to twenty."""
    prompt = call.messages[-1][1]
    sizes = [min(20, len(text.split())) for text in SHOWN.findall(prompt)]
    if "[[A]]" in prompt:
        one, other = sizes[-2:]
        return f"I counted. [[{'A' if one > other else 'B' if other > one else 'C'}]]"
    return f"I counted.\n\nRating: [[{1 + sizes[-1] * 9 // 20}]]"


class Said(NamedTuple):
    """What a command printed."""

    code: int
    out: str
    err: str

    @property
    def next_command(self) -> str:
        """The command on the line after `Next:`."""
        return self.out.partition("Next:\n")[2].splitlines()[0]


class Walk:
    """A folder in which commands are run."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.addresses: dict[str, str] = {}

    def configure(self) -> None:
        """Write turnbench.toml."""
        tables = ['bench_name = "mine"']
        for name, address in self.addresses.items():
            tables += [f"[models.{name}]", f'base_url = "{address}"']
            if name in LIMITS:
                tables.append(f"sampling = {{max_tokens = {LIMITS[name]}}}")
        self.write("turnbench.toml", *tables)

    def write(self, path: str, *rows: Any) -> None:
        """Write rows as lines of JSON, or a text."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        target.write_text("\n".join(lines) + "\n")

    def run(self, line: str) -> Said:
        """Run a command as it is printed."""
        words = shlex.split(line)
        words = words[1:] if words[0] == "turnbench" else words
        command = [sys.executable, "-m", "turnbench", *words]
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, timeout=600, check=False
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def json(self, line: str) -> Any:
        """Return what a command prints with --format json."""
        said = self.run(f"{line} --format json")
        assert said.code == 0, said.err
        return json.loads(said.out)


@pytest.fixture
def walk(tmp_path: pathlib.Path) -> Iterator[Walk]:
    """Yield a folder with questions, a model with three limits, and a judge."""
    walk = Walk(tmp_path)
    rows = [
        {"question_id": number, "category": category, "turns": turns}
        for number, (category, turns) in enumerate(QUESTIONS, 1)
    ]
    walk.write("data/mine/question.jsonl", *rows)
    with small_model.serve() as url, Server(Rule(say=judge)) as server:
        walk.addresses = {**dict.fromkeys(LIMITS, url), "sense": f"{server.url}/v1"}
        walk.configure()
        yield walk


def test_every_screen_on_the_way_says_the_same(walk: Walk) -> None:
    assert "demands a reference for the category 'math'" in walk.run("turnbench check_bench").out
    references = [
        {"question_id": n, "model_id": "me", "choices": [{"index": 0, "turns": turns}]}
        for n, turns in REFERENCES.items()
    ]
    walk.write("data/mine/reference_answer/me.jsonl", *references)
    assert "no problems" in walk.run("turnbench check_bench").out
    nothing = walk.run("turnbench status")
    assert nothing.next_command == "gen_answer --model NAME --bench-name mine"
    assert walk.run("gen_answer --model short long --retry-cut 1").code == 0
    answered = walk.run("turnbench status")
    assert answered.next_command == "gen_judgment --judge-model NAME --bench-name mine"
    # Three judges: one with sense, one that is built in, and the model itself on two questions.
    for flags in (
        "sense builtin/overlap",
        "sense --mode pairwise-all",
        "self --first-n 2 --max-tokens 64",
    ):
        assert walk.run(f"gen_judgment --judge-model {flags}").code == 0
    votes = [
        {"question_id": n, "model_a": "long", "model_b": "short", "winner": "model_a"}
        | {"judge": "ann", "turn": turn}
        for n in range(1, 9)
        for turn in (1, 2)
    ]
    walk.write("votes.jsonl", *votes)
    assert walk.run("turnbench import_data votes votes.jsonl").code == 0

    # Counts: status, its list of files, the reader.
    status = walk.json("turnbench status")
    of_judges = {(row["judge"], row["mode"]): row for row in status["judges"]}
    files = walk.json("turnbench status --files")["rows"]
    for (name, mode), row in of_judges.items():
        ends = "single" if mode == "single" else "pair"
        (file,) = [
            of_file
            for of_file in files
            if of_file["model"] == name and of_file["file"].endswith(f"{ends}.jsonl")
        ]
        assert (row["judged"], row["unparsed"]) == (file["rows"], file["unread"])
    assert of_judges["sense", "pairwise-all"]["judged"] == 16
    assert of_judges["self", "single"]["missing"] == 24
    bench = load("mine", walk.folder / "data")
    scores = read(bench).of(judges=["sense"])
    assert len(scores) == 32 + 16

    # Verdicts: the results, one judge's report, and the votes agree on who is better.
    shown = walk.run("show_result")
    pairs = walk.json("show_result --mode pairwise-all --judge-model sense")["rows"]
    long = next(row for row in pairs if row["model"] == "long")
    outcome = " ".join(walk.json("show_result")["outcome"].split())
    assert f"win rate {long['win_rate_adjusted']:.2f}" in outcome
    assert " ".join(shown.out.split()).startswith(outcome)
    flips = walk.json("turnbench judge_report position --judge-model sense")["rows"][0]
    assert flips["n"] == 16
    assert flips["consistent"] == 16 - long["flipped"]
    people = walk.json("turnbench judge_report agreement --mode pairwise-all --judge-model sense")[
        "rows"
    ]
    whole = next(row for row in people if row["setup"] == "S2" and row["turn"] is None)
    assert (whole["agree"], whole["total"]) == (long["win"], long["win"] + long["loss"])

    # Costs: everything ran on this machine.
    assert walk.json("show_result --cost")["total"] == 0
    assert {row["cost"] for row in files if row["what"] != "votes"} == {0}

    # What is printed as the next command does what it says, now on a faster server.
    walk.addresses["self"] = walk.addresses["sense"]
    walk.configure()
    rest = walk.run("turnbench status")
    assert walk.run(rest.next_command).code == 0
    again = walk.json("turnbench status")
    of_judges = {(row["judge"], row["mode"]): row for row in again["judges"]}
    assert of_judges["self", "single"]["missing"] == 0
    assert of_judges["self", "single"]["judged"] == 32

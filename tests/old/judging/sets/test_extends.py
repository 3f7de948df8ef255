"""Sets that take over another one: what they change, and that a change in the other one is seen."""

import json
import pathlib

import pytest

from harness.old.bench import shipped
from harness.old.errors import DataError
from harness.old.judging.sets import load_judge_set
from tests.old.judging.sets.written import COMPARE, GRADE, answered, asked, judged, loaded, written
from tests.old.protocol_server import ProtocolServer, verdict

BASE = """
version = "3"
title = "The base"
scale = [1, 5]
attempts = 2
order = "random"

[sampling]
temperature = 0.0
max_tokens = 100

[criteria.relevance]
definition = "Relevance"
steps = "1. Read."

[criteria.style]
definition = "Style"

[categories]
default = ["relevance"]
writing = ["relevance", "style"]
"""
SHOWN = 'kind = "grade"\nuser = "{criterion} {steps} {answer}"\n'


def test_what_is_not_said_anew_is_taken_over(tmp_path: pathlib.Path) -> None:
    written(tmp_path / "base", BASE, shown=SHOWN, pair=COMPARE)
    own = """
    extends = "../base"
    attempts = 4

    [sampling]
    max_tokens = 200

    [criteria.style]
    steps = "1. Listen."

    [criteria.persuasion]
    categories = ["generation"]
    definition = "Does it persuade?"
    """
    base = load_judge_set(str(tmp_path / "base"))
    made = loaded(tmp_path / "own", own, pair=COMPARE.replace("Compare", "Weigh"))
    assert (made.name, made.version, made.title, made.bases) == ("own", "1", "", ("base",))
    assert (made.scale, made.attempts, made.order) == ((1, 5), 4, "random")
    assert made.sampling.stated() == {"temperature": 0.0, "max_tokens": 200}
    assert made.criteria["style"].definition == "Style"
    assert made.criteria["style"].steps == "1. Listen."
    assert made.criteria_of(asked("generation"), 1) == ("relevance", "persuasion")
    assert made.templates["shown"] == base.templates["shown"]
    assert made.templates["pair"].user != base.templates["pair"].user


def test_a_shipped_set_can_be_extended_under_its_own_name(tmp_path: pathlib.Path) -> None:
    bench = tmp_path / "data" / "bench"
    written(bench / "mt_bench", 'extends = "mt_bench"\nname = "mine"\nscale = [1, 5]')
    made = load_judge_set("mt_bench", bench)
    assert (made.name, made.scale, made.bases) == ("mine", (1, 5), ("mt_bench",))
    assert made.templates.keys() == load_judge_set().templates.keys()
    assert made.path != shipped("judge_prompts") / "mt_bench"


def test_a_chain_is_followed_to_its_end(tmp_path: pathlib.Path) -> None:
    written(tmp_path / "a", BASE, shown=SHOWN)
    written(tmp_path / "b", 'extends = "../a"\nattempts = 3')
    made = loaded(tmp_path / "c", 'extends = "../b"\nscale = [0, 1]', other=GRADE)
    assert (made.bases, made.attempts, made.scale) == (("b", "a"), 3, (0, 1))
    assert set(made.templates) == {"shown", "other"}


def test_a_set_of_fastchats_can_be_extended(tmp_path: pathlib.Path) -> None:
    row = {"name": "single-v1", "type": "single", "prompt_template": "{answer}", "output_format": "[[rating]]"}
    (tmp_path / "judge_prompts.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    made = loaded(tmp_path / "own", 'extends = "../judge_prompts.jsonl"\nscale = [1, 5]', pair=COMPARE)
    assert (set(made.templates), made.fence, made.scale) == ({"single-v1", "pair"}, False, (1, 5))
    assert made.templates["single-v1"].form.scale == (1, 5)


@pytest.mark.parametrize(
    ("sets", "told"),
    [
        pytest.param({"a": "../a"}, "a > a", id="itself by its path"),
        pytest.param({"a": "../b", "b": "../a"}, "a > b > a", id="two"),
        pytest.param({"a": "../b", "b": "../c", "c": "../b"}, "a > b > c > b", id="further on"),
    ],
)
def test_a_circle_is_refused(tmp_path: pathlib.Path, sets: dict[str, str], told: str) -> None:
    for name, base in sets.items():
        written(tmp_path / name, f'extends = "{base}"', grade=GRADE)
    with pytest.raises(DataError, match=f"judge_set.toml: extends is circular: {told}"):
        load_judge_set(str(tmp_path / "a"))


def test_a_fault_in_the_other_set_names_its_file(tmp_path: pathlib.Path) -> None:
    written(tmp_path / "base", "attempt = 1", grade=GRADE)
    with pytest.raises(DataError, match=r"base/judge_set\.toml:1: unknown key 'attempt'; did you mean 'attempts'\?"):
        loaded(tmp_path / "own", 'extends = "../base"')


def test_pieces_that_do_not_fit_together_name_the_set_that_put_them_together(tmp_path: pathlib.Path) -> None:
    written(tmp_path / "base", BASE, shown=SHOWN)
    with pytest.raises(DataError, match=r"own/judge_set\.toml: categories\.math names the unknown criterion 'stile'"):
        loaded(tmp_path / "own", 'extends = "../base"\n[categories]\nmath = ["stile"]')


@pytest.mark.parametrize(
    ("change", "anew"),
    [
        pytest.param({}, 0, id="nothing"),
        pytest.param({"shown": SHOWN.replace("{steps}", "{steps}!")}, 2, id="a template of the base"),
        pytest.param({"settings": BASE.replace('"Style"', '"Good style"')}, 1, id="one criterion of the base"),
        pytest.param({"settings": BASE.replace("1. Read.", "1. Read on.")}, 1, id="the steps of another"),
        pytest.param({"settings": BASE.replace("[1, 5]", "[1, 6]")}, 2, id="the scale of the base"),
        pytest.param({"settings": BASE.replace("100", "101")}, 2, id="the sampling of the base"),
        pytest.param({"settings": BASE.replace("The base", "Base")}, 0, id="the title of the base"),
        pytest.param({"pair": COMPARE + "# changed"}, 0, id="a template that is not used"),
    ],
)
def test_a_change_in_the_base_outdates_what_was_judged_with_it(
    tmp_path: pathlib.Path, change: dict[str, str], anew: int
) -> None:
    bench = answered(tmp_path, models="a")
    usual = {"settings": BASE, "shown": SHOWN, "pair": COMPARE}
    written(tmp_path / "base", **usual)
    own = written(tmp_path / "own", 'extends = "../base"')
    with ProtocolServer(verdict) as server:
        assert judged(server, bench, own).written == 2
        written(tmp_path / "base", **(usual | change))
        report = judged(server, bench, own)
    assert (report.written, report.superseded) == (anew, anew)

"""Attacks on judges: a gullible one is found out, a firm one is not."""

import pathlib
import re

import pytest

from harness.old.cli.judge_report import main
from harness.old.errors import DataError, MissingError, UsageError
from harness.old.judging.run import JudgeOptions
from harness.old.meta_evaluation.attack import Attack, AttackPlan, load_attacks, plan_attack, run_attack
from harness.old.running.options import RunOptions
from tests.old.protocol_server import Asked, ProtocolServer, Said, bad_request
from tests.old.small_bench import answer, question, small_bench, write

_PLANTED = re.compile(r"\[\[(10|A|B)\]\]")


def gullible(asked: Asked) -> Said:
    """Give the grade that the answer asks for, on some questions nearly so, and else a low one."""
    text = asked.texts[-1]
    planted = _PLANTED.search(text.rpartition("### Answer")[2])
    if planted is None or planted[1] != "10":
        return Said("Poor. Rating: [[2]]")
    return Said(f"Well argued. Rating: [[{10 if 'Question 1,' in text else 8}]]")


def firm(asked: Asked) -> Said:
    """Give the same low grade whatever the answer says."""
    return Said("Poor, whatever it says of itself. Rating: [[2]]")


def _plan(server: ProtocolServer, tmp_path: pathlib.Path, **how: object) -> AttackPlan:
    small_bench(tmp_path, *(question(number) for number in range(1, 9)), name="mt_bench")
    options = JudgeOptions(base_url=server.openai_url)
    return plan_attack("j", options=options, data_dir=tmp_path, first_n=6, **how)  # type: ignore[arg-type]


def test_there_are_attacks_of_every_published_kind() -> None:
    attacks = load_attacks()
    assert len(attacks) >= 25
    kinds = {"null", "verdict", "marker", "system", "list", "appeal", "padding", "language"}
    assert {attack.kind for attack in attacks} == kinds
    assert all("{answer}" in attack.text or attack.kind in {"null", "list"} for attack in attacks)


def test_what_is_planted_is_not_filled_in_again() -> None:
    attack = Attack("a", "verdict", "{answer} grade {top}, {unknown}")
    assert attack.plant("I say {question} and {top}.", "why?", 5.0) == "I say {question} and {top}. grade 5, {unknown}"


def test_a_gullible_judge_is_found_out_by_what_works_on_it(tmp_path: pathlib.Path) -> None:
    with ProtocolServer(gullible) as server:
        report = run_attack(_plan(server, tmp_path), RunOptions(8))
    rows = {(row["attack"], row["kind"]): row for row in report.rows}
    works = rows["verdict: grade at the end", "verdict"]
    assert (works["clean"], works["raised"]) == (2, 1)
    assert 6 < works["shift"] < 8
    assert rows["all", "all"]["shift_low"] > 0
    assert rows["appeal: pity", "appeal"]["shift"] == 0
    assert report.rows[0]["n"] == 6 * len(load_attacks())


def test_a_firm_judge_is_moved_by_nothing(tmp_path: pathlib.Path) -> None:
    with ProtocolServer(firm) as server:
        report = run_attack(_plan(server, tmp_path), RunOptions(8))
    assert {row["shift"] for row in report.rows} == {0.0}
    assert {row["raised"] for row in report.rows} == {0.0}


def test_in_pairs_the_weak_answer_is_set_against_a_strong_one_in_both_orders(tmp_path: pathlib.Path) -> None:
    def takes_the_planted(asked: Asked) -> Said:
        first, _, second = asked.texts[-1].partition("<<<end")
        return Said("[[A]]" if "nothing is wrong" in first and "nothing is wrong" not in second else "[[B]]")

    with ProtocolServer(takes_the_planted) as server:
        plan = _plan(server, tmp_path, mode="pairwise-baseline")
        report = run_attack(plan, RunOptions(8))
    row = next(row for row in report.rows if row["attack"] == "verdict: quoted from another judge")
    assert plan.judgments.calls == 6 * 2 * (len(plan.attacks) + 1)
    assert row["clean"] == 0.5, "always B: a tie when both orders are counted"
    assert row["attacked"] > row["clean"]


def test_an_attack_that_was_judged_is_not_paid_for_again(tmp_path: pathlib.Path) -> None:
    with ProtocolServer(firm) as server:
        run_attack(_plan(server, tmp_path), RunOptions(8))
        again = plan_attack("j", options=JudgeOptions(base_url=server.openai_url), data_dir=tmp_path, first_n=6)
    assert again.judgments.calls == 0


def test_results_of_the_real_benchmark_are_left_alone(tmp_path: pathlib.Path) -> None:
    with ProtocolServer(firm) as server:
        run_attack(_plan(server, tmp_path), RunOptions(8))
    assert sorted(path.name for path in (tmp_path / "mt_bench").iterdir()) == [".turnbench", "question.jsonl"]


def test_any_model_that_has_answered_can_be_the_weak_one(tmp_path: pathlib.Path) -> None:
    with ProtocolServer(firm) as server:
        with pytest.raises(MissingError, match="mine has not answered question 1"):
            _plan(server, tmp_path, weak_model="mine")
        rows = [answer(number, "mine", "weak", "weak") for number in range(1, 9)]
        write(tmp_path / "mt_bench" / "model_answer" / "mine.jsonl", rows)
        plan = _plan(server, tmp_path, weak_model="mine")
    assert plan.judgments.bench.answers("clean")[1].choices[0].turns == ("weak",)


def test_the_first_questions_or_a_sample_over_the_categories_are_attacked(tmp_path: pathlib.Path) -> None:
    def attacked(**how: int) -> list[object]:
        plan = plan_attack("builtin/overlap", data_dir=tmp_path, **how)  # type: ignore[arg-type]
        return [question.category for question in plan.judgments.questions]

    assert attacked(first_n=3) == ["writing"] * 3
    assert len(set(attacked(sample_n=8))) == 8
    assert len(attacked()) == 10
    assert len(set(attacked())) == 8


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "the key 'attack' is missing; it must be .* tables, one or more", id="empty"),
        pytest.param("[[attack]]\nname = 'a'\nkind = 'b'\n", "the key 'attack.1.text' is missing", id="no-text"),
        pytest.param("[[attack]]\nname = 'clean'\nkind = 'b'\ntext = 'c'\n", "'clean' is taken", id="name-taken"),
    ],
)
def test_a_file_of_attacks_is_checked(tmp_path: pathlib.Path, text: str, reason: str) -> None:
    path = tmp_path / "attacks.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=reason):
        load_attacks(path)


def test_a_mode_without_a_clean_answer_to_compare_with_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(UsageError, match="mode single or pairwise-baseline"):
        plan_attack("builtin/overlap", mode="pairwise-all", data_dir=tmp_path)


def test_the_command_prints_what_the_attacks_do(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["attack", "--judge-model", "builtin/overlap", "--first-n", "5", "--data-dir", str(tmp_path), "-q"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "padding: general remarks" in out
    assert "an interval above 0 means that the attack works on this judge" in out
    assert "note: intervals: studentized bootstrap" in out


def test_without_intervals_no_attack_is_said_to_work_and_silence_on_clean_answers_is_told(
    tmp_path: pathlib.Path,
) -> None:
    def shy(asked: Asked) -> Said:
        return Said("I cannot say.")

    small_bench(tmp_path, *(question(number) for number in range(1, 4)), name="mt_bench")
    with ProtocolServer(shy) as server:
        options = JudgeOptions(base_url=server.openai_url)
        report = run_attack(plan_attack("j", options=options, data_dir=tmp_path, first_n=1), RunOptions(8))
    assert (
        report.notes[0]
        == "shift: mean change of the grade from the clean weak answer to the attacked one, on 1 question"
    )
    assert "no verdict on the clean answer to 1 of 1 question: what is attacked there is left out" in report.notes


def test_a_dry_run_of_attacks_calls_no_judge(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    small_bench(tmp_path, *(question(number) for number in range(1, 5)), name="mt_bench")
    with ProtocolServer(firm) as server:
        where = ["--data-dir", str(tmp_path), "--base-url", server.openai_url]
        assert main(["attack", "--judge-model", "j", *where, "--first-n", "2", "--dry-run", "-q"]) == 0
        assert not server.requests
    assert "66" in capsys.readouterr().out


def test_attacks_stand_in_the_answer_where_replies_are_json(tmp_path: pathlib.Path) -> None:
    bench = small_bench(
        tmp_path, *(question(n, turns=["Why?"]) for n in (1, 2)), name="mt_bench", toml='answer_field = "answer"\n'
    )
    replies = [answer(n, "weak", '{"answer": "Because it is weak."}') for n in (1, 2)]
    write(bench.answer_file("weak"), replies)
    options = JudgeOptions(base_url="http://127.0.0.1:9")
    plan = plan_attack("j", options=options, data_dir=tmp_path, weak_model="weak")
    said = plan.judgments.bench.answers("verdict: grade at the end")[1].choices[0].turns[0]
    assert said.startswith("Because it is weak.")
    assert "{" not in said
    assert plan.judgments.bench.settings.answer_field is None


def test_failed_calls_are_listed_and_make_the_command_fail(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small_bench(tmp_path, *(question(number) for number in range(1, 4)), name="mt_bench")

    def poor(asked: Asked) -> Said:
        return Said("Poor. Rating: [[2]]")

    faults = {5: bad_request("no such thing")}
    with ProtocolServer(poor, faults=faults) as server:
        where = ["--data-dir", str(tmp_path), "--base-url", server.openai_url]
        assert main(["attack", "--judge-model", "j", *where, "--first-n", "2", "-q"]) == 1
        told = capsys.readouterr()
        assert "1 failed and not in the file" in told.err
        assert "verdict: grade at the end" in told.out
        assert main(["attack", "--judge-model", "j", *where, "--first-n", "2", "-q"]) == 0

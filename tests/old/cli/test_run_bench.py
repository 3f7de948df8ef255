"""run_bench: what it says, shows and refuses."""

import json
import pathlib
import re

import pytest

from harness.cli.main import main
from tests.old.cli.conftest import Run, write_questions
from tests.old.protocol_server import Asked, ProtocolServer, bad_request, parrot, verdict
from tests.old.small_bench import answer, question, rows, write


@pytest.fixture
def fresh(tmp_path: pathlib.Path) -> pathlib.Path:
    """Return a data folder with a benchmark that nobody has answered."""
    write_questions(tmp_path / "data" / "tiny", question(1), question(2))
    return tmp_path / "data"


def words(data: pathlib.Path, *more: str) -> list[str]:
    return ["run_bench", "--data-dir", str(data), "--bench-name", "tiny", "--judge-model", "builtin/overlap", *more]


def test_it_answers_judges_and_shows_what_show_result_shows(run: Run, fresh: pathlib.Path) -> None:
    done = run(*words(fresh, "--model", "builtin/eliza", "builtin/outline"))
    assert done.returncode == 0
    assert "builtin/eliza: 2 questions to answer, 4 calls" in done.stderr
    assert "builtin/overlap: 8 judgments to make, 8 calls" in done.stderr
    assert "12/12" in done.stderr
    shown = run("show_result", "--data-dir", str(fresh), "--bench-name", "tiny", "--judge-model", "builtin/overlap")
    assert done.stdout.splitlines()[:5] == shown.stdout.splitlines()[:5]
    assert "builtin/outline" in done.stdout


def test_a_second_run_shows_again_and_calls_nothing(fresh: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words(fresh, "--model", "builtin/eliza", "-q", "--format", "json")) == 0
    first = json.loads(capsys.readouterr().out)
    assert main(words(fresh, "--model", "builtin/eliza", "--format", "json")) == 0
    told = capsys.readouterr()
    assert json.loads(told.out) == first
    assert "2 answered before, nothing left to answer" in told.err
    assert "4 judged before, nothing left to judge" in told.err


def test_pairs_against_a_baseline(fresh: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    mode = ["--mode", "pairwise-baseline", "--baseline-model", "builtin/eliza"]
    assert main(words(fresh, "--model", "builtin/eliza", "builtin/outline", *mode, "-q")) == 0
    assert "pairwise-baseline, questions: tiny" in capsys.readouterr().out


def test_a_failure_is_listed_with_what_it_leaves_undone(
    fresh: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def faults(asked: Asked) -> object:
        return bad_request("This cannot be.") if "Question 2" in asked.texts[-1] else None

    with ProtocolServer(parrot, faults=faults) as server:  # type: ignore[arg-type]
        assert main(words(fresh, "--model", "m", "--base-url", server.openai_url, "-q")) == 1
    told = capsys.readouterr()
    assert "run_bench: 1 failed and not in the file" in told.err
    assert "run_bench: 2 calls to judges could not be made because their answers are missing" in told.err
    assert "m " in told.out


def test_a_model_of_which_every_call_failed_is_named_under_the_table(
    fresh: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def faults(asked: Asked) -> object:
        return bad_request("This cannot be.") if asked.body["model"] == "broken" else None

    with ProtocolServer(parrot, faults=faults) as server:  # type: ignore[arg-type]
        models = ["--model", "builtin/eliza", "builtin/outline", "broken", "--base-url", server.openai_url]
        assert main(words(fresh, *models, "--yes")) == 1
    shown = capsys.readouterr().out
    assert "note: not answered, so not in the table: broken" in shown


def test_a_judge_of_which_every_call_failed_is_named_where_its_table_would_be(
    fresh: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def faults(asked: Asked) -> object:
        return bad_request("This cannot be.") if asked.body["model"] == "broken" else None

    with ProtocolServer(verdict, faults=faults) as server:  # type: ignore[arg-type]
        judges = ["--judge-model", "fine", "broken", "--judge-base-url", server.openai_url]
        assert main([*words(fresh, "--model", "builtin/eliza", "--yes"), *judges]) == 1
    told = capsys.readouterr()
    assert "judge: fine" in told.out
    assert told.err.splitlines()[-1] == "run_bench: there is nothing to show for broken: it has made no judgment"


def test_what_is_made_of_a_cut_file_is_not_said_to_be_all(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [{"instruction": f"Sing {n}.", "output": "la", "generator": "m"} for n in range(3)]
    cut = tmp_path / "cut.json"
    cut.write_text(json.dumps(records)[:-9])
    for _ in range(2):  # the second time all is done, of what is there
        assert main(words(tmp_path, "--import", "alpaca_eval", str(cut), "--yes")) == 1
        assert "note: left out of what was imported: 1 record" in capsys.readouterr().out
    cut.write_text(json.dumps(records[:2]))
    assert main(words(tmp_path, "--import", "alpaca_eval", str(cut), "--yes")) == 0


def test_models_and_judges_have_addresses_of_their_own(fresh: pathlib.Path) -> None:
    with ProtocolServer(parrot) as models, ProtocolServer(verdict) as judges:
        both = ["--base-url", models.openai_url, "--judge-base-url", judges.openai_url, "--judge-temperature", "0.3"]
        command = ["run_bench", "--data-dir", str(fresh), "--bench-name", "tiny", "--judge-model", "j"]
        assert main([*command, "--model", "m", "--temperature", "0.9", *both, "-q"]) == 0
        assert {(r.model, r.body["temperature"]) for r in models.requests} == {("m", 0.9)}
        assert {(r.model, r.body["temperature"]) for r in judges.requests} == {("j", 0.3)}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        pytest.param(["--judge-set", "nowhere"], "nowhere", id="judge set"),
        pytest.param(["--mode", "pairwise-baseline"], "needs --baseline-model", id="no baseline"),
        pytest.param(["--judge-model", "builtin/other"], "builtin/other", id="judge"),
        pytest.param(
            ["--judge-model", "gpt-4.1", "--format", "csv"], "run_bench: error: --format csv shows one judge", id="csv"
        ),
        pytest.param(["--overwrite"], "--overwrite replaces rows of a board; name it", id="overwrite"),
        pytest.param(["--length-control", "own"], "length control are for pairs with a baseline", id="length control"),
        pytest.param(["--board", "b.csv"], "a board and length control are for pairs with a baseline", id="board"),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_answered(
    fresh: pathlib.Path, capsys: pytest.CaptureFixture[str], more: list[str], said: str
) -> None:
    assert main(words(fresh, "--model", "builtin/eliza", *more)) == 2
    assert said in capsys.readouterr().err
    assert not (fresh / "tiny" / "model_answer").exists()


def test_a_column_that_there_is_not_costs_the_order_and_not_the_results(
    fresh: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words(fresh, "--model", "builtin/eliza", "--sort", "avrage")) == 0
    told = capsys.readouterr()
    assert "run_bench: warning: no column 'avrage' to sort by; there are: model, turn_1, turn_2, average" in told.err
    assert "builtin/eliza" in told.out


def test_a_cache_makes_equal_answers_one_judging(fresh: pathlib.Path) -> None:
    with ProtocolServer(lambda asked: verdict(asked) if asked.model == "j" else "The same.") as server:
        both = ["--base-url", server.openai_url, "--judge-base-url", server.openai_url]
        command = ["run_bench", "--data-dir", str(fresh), "--bench-name", "tiny", "--judge-model", "j", *both, "-q"]
        assert main([*command, "--model", "a", "b", "--cache"]) == 0
        assert [request.model for request in server.requests].count("j") == 4
    assert (fresh / ".turnbench" / "cache.sqlite").exists()


def test_metrics_are_computed_of_what_was_answered(fresh: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(fresh / "tiny" / "reference_answer" / "me.jsonl", [answer(1, "me", "First.", "Second.")])
    more = ["--model", "builtin/eliza", "--metrics", "rouge", "distinct", "--variant", "colossalai"]
    assert main(words(fresh, *more)) == 0
    err = capsys.readouterr().err
    assert "rouge (colossalai, tokens: a-z0-9): 2 turns to measure" in err
    assert "run_bench: warning: 2 turns without a reference are left out (rouge)" in err
    found = rows(fresh / "tiny" / "model_metric" / "distinct.jsonl")
    assert [(row["question_id"], row["turn"]) for row in found] == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert main(words(fresh, *more)) == 0
    assert "rouge (colossalai, tokens: a-z0-9): 2 measured before, nothing left to measure" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        pytest.param("bluu", "no metric 'bluu'; did you mean 'bleu'?", id="unknown"),
        pytest.param("rouge", "there is no reference answer in .*tiny, required by rouge", id="no reference"),
        pytest.param("unieval", "unieval needs a checkpoint: --unieval-model", id="no checkpoint"),
    ],
)
def test_what_metrics_lack_is_said_before_the_first_call(
    metric: str, reason: str, fresh: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words(fresh, "--model", "builtin/eliza", "--metrics", "distinct", metric)) == 2
    assert re.search(reason, capsys.readouterr().err)
    assert not (fresh / "tiny" / "model_answer").exists()


def test_the_function_computes_metrics_too(fresh: pathlib.Path) -> None:
    import harness

    report = harness.run_bench("builtin/eliza", "builtin/overlap", "tiny", data_dir=fresh, metrics=["distinct"])
    assert report.metrics is not None
    assert report.metrics.written == 4


def test_a_run_of_which_most_judgments_give_no_verdict_exits_1(
    fresh: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ProtocolServer() as server:
        judge = ["--judge-model", "j", "--judge-base-url", server.openai_url]
        base = ["run_bench", "--data-dir", str(fresh), "--bench-name", "tiny", "--model", "builtin/eliza", "-q"]
        assert main([*base, *judge]) == 1
    assert "half of the judgments or more give no verdict" in capsys.readouterr().err

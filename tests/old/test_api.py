"""The commands as functions: the words of the flags."""

import json
import pathlib

import pytest

import harness
from tests.old.protocol_server import ProtocolServer, verdict
from tests.old.small_bench import question, small_bench


@pytest.fixture
def data(tmp_path: pathlib.Path) -> pathlib.Path:
    """Return a data folder with a benchmark `small` of four questions in two categories."""
    small_bench(tmp_path, *(question(n, "writing" if n > 2 else "stem", ["Why?"]) for n in range(1, 5)))
    return tmp_path


def test_options_are_words_as_on_the_command_line(data: pathlib.Path) -> None:
    with ProtocolServer(verdict) as server:
        with harness.tqdm_watch() as watch:
            answered = harness.gen_answer(
                "m", "small", data_dir=data, sample_n=2, base_url=server.openai_url, temperature=0.5, watch=watch
            )
        asked = server.requests[-1].body
        judged = harness.gen_judgment(
            "j", "small", data_dir=data, judge_set="mt_bench", base_url=server.openai_url, turns=[1], sample_n=2
        )
    assert (answered.written, judged.written) == (2, 2)
    assert asked["temperature"] == 0.5
    rows = map(json.loads, answered.paths[0].read_text(encoding="utf-8").splitlines())
    assert [row["question_id"] for row in rows] == [1, 3]
    shown = repr(harness.read_judgments(judged.paths[0]))
    assert "2 observations" in shown
    assert "Observations object" not in shown


def test_words_of_a_whole_run_go_to_models_or_judges(data: pathlib.Path) -> None:
    with ProtocolServer(lambda body: verdict(body) if "[Question]" in str(body) else "Because.") as server:
        report = harness.run_bench(
            "m",
            "j",
            "small",
            data_dir=data,
            first_n=1,
            base_url=server.openai_url,
            judge_base_url=server.openai_url,
            temperature=0.5,
            judge_max_tokens=77,
            turns=[1],
            retry_cut=2,
        )
        asked, judged = [request.body for request in server.requests]
    assert (report.answers.written, report.judgments.written) == (1, 1)
    assert (asked["temperature"], judged["temperature"]) == (0.5, 0.0)
    assert (77 in asked.values(), 77 in judged.values()) == (False, True)
    with pytest.raises(TypeError, match=r"run_bench\(\) got .* 'judge_temprature'; did you mean 'judge_temperature'"):
        harness.run_bench("m", "j", "small", data_dir=data, judge_temprature=1)


def test_an_unknown_word_is_a_type_error_that_names_the_near_one(data: pathlib.Path) -> None:
    with pytest.raises(TypeError, match=r"gen_answer\(\) got .* 'base_ulr'; did you mean 'base_url'"):
        harness.gen_answer("builtin/eliza", "small", data_dir=data, base_ulr="http://localhost:1/v1")
    with pytest.raises(TypeError, match=r"gen_judgment\(\) got .* 'judgeset'; did you mean 'judge_set'"):
        harness.gen_judgment("builtin/overlap", "small", data_dir=data, judgeset="mt_bench")
    with pytest.raises(TypeError, match=r"judge_attack\(\) got .* 'weak_modle'; did you mean 'weak_model'"):
        harness.judge_attack("builtin/overlap", "small", data_dir=data, weak_modle="m")


def test_what_commands_do_beside_has_functions(data: pathlib.Path) -> None:
    assert not harness.check_bench("small", data).problems
    harness.gen_answer(["builtin/eliza", "builtin/outline"], "small", data_dir=data)
    harness.gen_judgment(
        "builtin/overlap", "small", data_dir=data, mode="pairwise-baseline", baseline_model="builtin/eliza"
    )
    counts = harness.import_back("alpaca_eval", data / "back.json", "small", data_dir=data)
    assert counts == {"builtin/outline": 4}
    assert len(json.loads((data / "back.json").read_text(encoding="utf-8"))) == 4
    with pytest.raises(harness.TurnbenchError, match="no shape 'csv'"):
        harness.import_back("csv", data / "x", "small", data_dir=data)  # type: ignore[arg-type]
    result = harness.show_result(
        "pairwise-baseline", bench_name="small", data_dir=data, baseline_model="builtin/eliza", intervals=True
    )
    harness.write_report(data / "page.html", harness.result_page(result))
    assert "builtin/outline" in (data / "page.html").read_text(encoding="utf-8")

"""What a plan will take, told before the first call, and what it took in the end."""

import pathlib
from collections.abc import Sequence
from dataclasses import replace

import pytest

from harness.old.answering import AnswerOptions, AnswerPlan, plan_answers, run_answers
from harness.old.bench import Bench, load_bench
from harness.old.chat.price import Price
from harness.old.estimating import MOST_JOBS, estimate_plan
from harness.old.judging.asking import request_about
from harness.old.judging.planned import JudgmentPlan
from harness.old.judging.run import JudgeOptions, plan_judgments, run_judgments
from harness.old.records import Message
from harness.old.running.estimate import O200K, Estimate, Weights, prompt_tokens, text_tokens
from harness.old.running.pending import kept_count
from tests.old.protocol_server import Asked, Fault, ProtocolServer, bad_request
from tests.old.small_bench import answer, question, small_bench, write

TEXT = "The ferry crosses the bay four times a day, and nobody knows why it is always late on Mondays. "
MODELS = """
[models."gpt-4o-here"]
model = "gpt-4o"
base_url = "http://127.0.0.1:9/v1"
[models.unpriced]
base_url = "http://127.0.0.1:9/v1"
"""


@pytest.fixture
def models(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "models.toml"
    path.write_text(MODELS, encoding="utf-8")
    return path


def answers(bench: Bench, models: pathlib.Path, *names: str) -> AnswerPlan:
    return plan_answers(names or ["gpt-4o-here"], bench, AnswerOptions(models_file=models, max_tokens=1000))


def judgments(bench: Bench, models: pathlib.Path, **more: object) -> JudgmentPlan:
    options = JudgeOptions(models_file=models, max_tokens=500)
    return plan_judgments(["gpt-4o-here"], bench, "single", options, **more)  # type: ignore[arg-type]


def test_a_second_turn_holds_the_expected_first_reply(tmp_path: pathlib.Path, models: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1, turns=[TEXT * 10, TEXT * 2]))
    (estimate,) = estimate_plan(answers(bench, models))
    first, second = text_tokens(TEXT * 10, O200K), text_tokens(TEXT * 2, O200K)
    assert estimate.calls == 2
    assert estimate.prompt_tokens == pytest.approx(2 * first + second + 600, rel=0.05)
    assert estimate.reply_tokens == (600, 2000)
    assert estimate.price == Price(2.5, 10.0, cached=1.25, batch=0.5)
    assert estimate.cost is not None
    assert estimate.cost.low == pytest.approx((estimate.prompt_tokens * 2.5 + 600 * 10) / 1e6, rel=1e-3)


def test_an_unknown_price_leaves_the_tokens(tmp_path: pathlib.Path, models: pathlib.Path) -> None:
    (estimate,) = estimate_plan(answers(small_bench(tmp_path), models, "unpriced"))
    assert estimate.cost is None
    assert estimate.row()["cost_low"] is None
    assert estimate.prompt_tokens > 0


def test_past_replies_of_the_model_narrow_the_range(tmp_path: pathlib.Path, models: pathlib.Path) -> None:
    bench = small_bench(tmp_path, *[question(number) for number in range(1, 11)])
    usage = [{"usage": {"prompt_tokens": 9, "completion_tokens": tokens}} for tokens in (200, 220)]
    done = []
    for number in range(1, 6):
        row = answer(number, "gpt-4o-here", "a", "b")
        row["choices"][0]["details"] = usage
        done.append(row)
    write(bench.answer_file("gpt-4o-here"), done)
    (estimate,) = estimate_plan(answers(bench, models))
    assert (estimate.calls, estimate.past) == (10, 10)
    assert estimate.reply_tokens == (2000, 2200)
    assert estimate.one_reply == pytest.approx(210)


def test_what_is_done_is_not_estimated(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    plan = plan_answers(["builtin/eliza"], bench)
    assert [estimate.cost for estimate in estimate_plan(plan)] == [(0.0, 0.0)]
    run_answers(plan)
    assert estimate_plan(plan_answers(["builtin/eliza"], bench)) == []


def second_turns_fail(asked: Asked) -> Fault | None:
    return bad_request("No.") if len(asked.texts) > 1 else None


def test_replies_that_an_earlier_run_left_take_no_call(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    with ProtocolServer(faults=second_turns_fail) as server:
        options = AnswerOptions(base_url=server.openai_url)
        (whole,) = estimate_plan(plan_answers(["m"], bench, options))
        run_answers(plan_answers(["m"], bench, options))
        (rest,) = estimate_plan(plan_answers(["m"], bench, options))
        (anew,) = estimate_plan(plan_answers(["m"], bench, options, redo=True))
    assert (whole.calls, rest.calls, anew.calls) == (6, 3, 6)
    assert rest.prompt_tokens < whole.prompt_tokens
    assert rest.reply_tokens.high == whole.reply_tokens.high / 2
    (other,) = estimate_plan(plan_answers(["m"], bench, replace(options, temperature=0.5)))
    assert other.calls == 6, "what was kept was asked otherwise"


def test_the_first_game_that_an_earlier_run_left_takes_no_call(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1))
    for model, said in (("a", "Yes."), ("b", "No.")):
        write(bench.answer_file(model), [answer(1, model, said, said)])

    def planned(server: ProtocolServer) -> JudgmentPlan:
        return plan_judgments(["j"], bench, "pairwise-all", JudgeOptions(base_url=server.openai_url))

    with ProtocolServer(faults=lambda asked: bad_request("No.") if asked.number % 2 else None) as server:
        assert [estimate.calls for estimate in estimate_plan(planned(server))] == [4]
        run_judgments(planned(server))
        kept = kept_count(planned(server).judges[0].path, bench.judgment_state)
        assert 0 < kept < 4
        assert [estimate.calls for estimate in estimate_plan(planned(server))] == [4 - kept]


def test_judgments_are_estimated_from_their_prompts(tmp_path: pathlib.Path, models: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1))
    write(bench.answer_file("m"), [answer(1, "m", TEXT * 10, TEXT * 20)])
    plan = judgments(bench, models)
    (estimate,) = estimate_plan(plan)
    prompts = [request_about(plan.materials, match).messages for match in plan.matches(plan.judges[0])]
    told = sum(text_tokens(message.content, O200K) for messages in prompts for message in messages)
    assert estimate.calls == 2
    assert estimate.prompt_tokens == pytest.approx(told, rel=0.02)
    assert estimate.reply_tokens == (300, 1000)


def test_answers_that_are_still_to_be_made_are_judged_at_their_expected_length(
    tmp_path: pathlib.Path, models: pathlib.Path
) -> None:
    bench = small_bench(tmp_path, question(1), question(2))
    write(bench.answer_file("m"), [answer(1, "m", TEXT, TEXT)])
    (there,) = estimate_plan(judgments(bench, models, questions=bench.questions[:1]))
    (both,) = estimate_plan(judgments(bench, models, awaited={"m": [2]}))
    assert (there.calls, both.calls) == (2, 4)
    awaited = both.prompt_tokens - there.prompt_tokens - (there.prompt_tokens - 3 * text_tokens(TEXT, O200K))
    assert awaited == pytest.approx(3 * 600, rel=0.1)


def test_of_many_jobs_some_stand_for_all(
    tmp_path: pathlib.Path, models: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = small_bench(tmp_path, *[question(number, turns=[TEXT * (number % 5 + 1)]) for number in range(1, 101)])
    (whole,) = estimate_plan(answers(bench, models))
    monkeypatch.setattr("harness.old.estimating.MOST_JOBS", 30)
    (part,) = estimate_plan(answers(bench, models))
    assert MOST_JOBS > 100
    assert part.calls == whole.calls == 100
    assert part.prompt_tokens == pytest.approx(whole.prompt_tokens, rel=0.1)


def test_of_long_prompts_no_more_than_a_stated_length_is_counted(
    tmp_path: pathlib.Path, models: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = small_bench(tmp_path, *[question(number) for number in range(1, 41)])
    write(bench.answer_file("m"), [answer(n, "m", TEXT * (n % 7 + 50), TEXT * 60) for n in range(1, 41)])
    (whole,) = estimate_plan(judgments(bench, models))
    counted: list[int] = []

    def counting(messages: Sequence[Message], weights: Weights) -> float:
        counted.append(sum(len(message.content) for message in messages))
        return prompt_tokens(messages, weights)

    monkeypatch.setattr("harness.old.estimating.MOST_TEXT", 100_000)
    monkeypatch.setattr("harness.old.estimating.prompt_tokens", counting)
    (part,) = estimate_plan(judgments(bench, models))
    assert part.calls == whole.calls == 80
    assert part.prompt_tokens == pytest.approx(whole.prompt_tokens, rel=0.15)
    assert sum(counted) < 300_000 < 80 * min(counted), "all together are far longer"


def test_calls_for_which_a_reply_is_kept_are_left_out_however_few_are_looked_at(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = small_bench(tmp_path, *[question(number) for number in range(1, 21)])
    with ProtocolServer(faults=second_turns_fail) as server:
        options = AnswerOptions(base_url=server.openai_url)
        run_answers(plan_answers(["m"], bench, options, questions=bench.questions[:7]))
        monkeypatch.setattr("harness.old.estimating.MOST_JOBS", 3)
        (rest,) = estimate_plan(plan_answers(["m"], bench, options))
    assert rest.calls == 40 - 7


def test_nothing_is_called_and_nothing_is_written(tmp_path: pathlib.Path, models: pathlib.Path) -> None:
    with ProtocolServer() as server:
        models.write_text(MODELS.replace("http://127.0.0.1:9", server.url), encoding="utf-8")
        bench = small_bench(tmp_path / "data")
        before = sorted(tmp_path.rglob("*"))
        estimate_plan(answers(bench, models))
        assert (server.requests, sorted(tmp_path.rglob("*"))) == ([], before)


def test_the_shipped_questions_cost_about_what_they_are_told_to(tmp_path: pathlib.Path, models: pathlib.Path) -> None:
    bench = load_bench("mt_bench", tmp_path)
    (estimate,) = estimate_plan(answers(bench, models))
    firsts = sum(text_tokens(q.turns[0], O200K) for q in bench.questions)
    seconds = sum(text_tokens(q.turns[1], O200K) for q in bench.questions)
    assert estimate.calls == 160
    assert estimate.prompt_tokens == pytest.approx(2 * firsts + seconds + 80 * 600, rel=0.05)


def test_the_sampling_of_models_toml_is_what_is_asked_where_nobody_else_says(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "models.toml"
    bench = small_bench(tmp_path, question(1, "math"), question(2, "own"), toml="temperatures = {own = 0.5}")

    def asked(text: str, **options: object) -> list[tuple[float | None, int | None]]:
        file.write_text(f'[models.m]\nbase_url = "http://127.0.0.1:9/v1"\n{text}', encoding="utf-8")
        plan = plan_answers(["m"], bench, AnswerOptions(models_file=file, **options))  # type: ignore[arg-type]
        from harness.old.answering import planned_jobs

        samplings = [next(job.steps()).sampling for job in planned_jobs(plan, plan.models[0])]
        return [(sampling.temperature, sampling.max_tokens) for sampling in samplings]

    assert asked("") == [(0.0, 4096), (0.5, 4096)]
    assert asked("sampling = {temperature = 0.3, max_tokens = 77}") == [(0.3, 77), (0.5, 77)]
    assert asked("sampling = {temperature = 0.3, max_tokens = 77}", temperature=1, max_tokens=9) == [(1.0, 9)] * 2


def test_an_answer_is_made_again_when_the_sampling_of_models_toml_changes(tmp_path: pathlib.Path) -> None:
    file, bench = tmp_path / "models.toml", small_bench(tmp_path)
    with ProtocolServer() as server:
        for text, calls in (
            ("", 6),
            ("", 6),
            ("sampling = {seed = 3}", 12),
            ("timeout = 9\nsampling = {seed = 3}", 12),
        ):
            file.write_text(f'[models.m]\nbase_url = "{server.openai_url}"\n{text}', encoding="utf-8")
            run_answers(plan_answers(["m"], bench, AnswerOptions(models_file=file)))
            assert len(server.requests) == calls


def test_what_a_provider_caches_is_counted_at_its_price(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1, category="roleplay"))
    write(bench.answer_file("m"), [answer(1, "m", TEXT * 60, TEXT)])
    models = tmp_path / "models.toml"
    models.write_text('[models.cached]\nprovider = "openai"\nmodel = "gpt-4.1"\n', encoding="utf-8")

    def told(*, batch: bool) -> Estimate:
        options = JudgeOptions(models_file=models, judge_set="metrics_en", key_needed=False)
        return estimate_plan(plan_judgments(["cached"], bench, "single", options), batch=batch)[0]

    estimate, batched = told(batch=False), told(batch=True)
    price = estimate.price
    assert price is not None
    assert price.cached is not None
    assert estimate.calls == 8
    assert 0.5 < estimate.cached / estimate.prompt_tokens < 0.75
    assert estimate.written == pytest.approx(estimate.cached / 3)
    assert estimate.cost is not None
    saved = (price.prompt - price.cached) * estimate.cached / 1e6
    whole = estimate.prompt_tokens * price.prompt + estimate.reply_tokens.low * price.completion
    assert estimate.cost.low == pytest.approx(whole / 1e6 - saved, rel=1e-3)
    assert batched.cached == 0

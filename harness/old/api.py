"""The commands as functions, with keywords named like their flags: plan and run in one call, for programs and
notebooks.

Every field of `AnswerOptions` and `JudgeOptions` may be given to `gen_answer`, `gen_judgment` and `run_bench` as a
keyword: `gen_answer("my-model", base_url="http://localhost:8000/v1")`, or all of them as `options`. To look at a
plan before it is run, use `plan_answers` and `run_answers`, `plan_judgments` and `run_judgments`.
"""

import pathlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Literal, TypeVar, Unpack, cast

from harness.old.annotations import write_annotations
from harness.old.answering import AnswerOptions, AnswerReport, plan_answers, run_answers
from harness.old.bench import Bench, Slice, load_bench
from harness.old.errors import UsageError
from harness.old.evaluation import planned_metrics, read_evaluation, usual_judge_set
from harness.old.importing.back import BackReport, write_back
from harness.old.judging.run import NO_REFERENCE, JudgeOptions, JudgmentReport, plan_judgments, run_judgments
from harness.old.judging.sets import judge_set_name
from harness.old.metrics.run import check_metrics, plan_metrics, run_metrics
from harness.old.metrics.setup import Setup
from harness.old.metrics.table import load_metrics
from harness.old.pipeline import BenchReport, plan_bench, run_plan
from harness.old.records import Mode
from harness.old.running.options import RunOptions
from harness.old.running.watch import Watcher, nobody
from harness.old.written import takes_only

_ANSWERING = {field.name: field.name for field in fields(AnswerOptions)}
"""The fields of `AnswerOptions` by keyword; the next is the same for `JudgeOptions`."""
_JUDGING = {field.name: field.name for field in fields(JudgeOptions)} | {
    "baseline_model": "baseline",
    "criterion": "criteria",
}
_OF_BOTH = ("temperature", "max_tokens", "params", "base_url", "api_key_env")
_JUDGING_TOO = {f"judge_{word}" if word in _OF_BOTH else word: field for word, field in _JUDGING.items()}
"""The same if the plain keywords are the models'."""
_Options = TypeVar("_Options", AnswerOptions, JudgeOptions)
_Names = TypeVar("_Names", Sequence[str], Sequence[str] | None)


@takes_only(Slice.__annotations__, _ANSWERING)
def gen_answer(
    model: str | Sequence[str],
    bench_name: str = "mt_bench",
    *,
    data_dir: pathlib.Path | str = "data",
    options: AnswerOptions | None = None,
    answer_file: pathlib.Path | str | None = None,
    redo: bool = False,
    skip_missing: bool = False,
    running: RunOptions = RunOptions(),
    watch: Watcher = nobody,
    **words: Any,
) -> AnswerReport:
    """Let each model answer every question that it has not answered yet; return what was done.

    `words` are fields of `AnswerOptions`, which take precedence over `options`, and those of `Slice` (`first_n`, ...).

    Raises:
        TypeError: there is no such keyword.
        TurnbenchError: see `plan_answers` and `run_answers`.
    """
    bench = load_bench(bench_name, data_dir)
    plan = plan_answers(
        _listed(model),
        bench,
        _said(options or AnswerOptions(), words, _ANSWERING),
        questions=bench.slice(**_slice(words)),
        answer_file=None if answer_file is None else pathlib.Path(answer_file),
        redo=redo,
        skip_missing=skip_missing,
    )
    return run_answers(plan, running, watch=watch)


@takes_only(Slice.__annotations__, _JUDGING)
def gen_judgment(
    judge_model: str | Sequence[str],
    bench_name: str = "mt_bench",
    *,
    mode: Mode | None = None,
    model_list: str | Sequence[str] | None = None,
    data_dir: pathlib.Path | str = "data",
    options: JudgeOptions | None = None,
    redo: bool = False,
    running: RunOptions = RunOptions(),
    watch: Watcher = nobody,
    **words: Any,
) -> JudgmentReport:
    """Let each judge judge every match that it has not judged yet; return what was done.

    `words` are fields of `JudgeOptions`, of which `baseline_model` and `criterion` have the flags' names too, and which
    count before `options`; and those of `Slice` (`first_n`, ...).

    Raises:
        TypeError: there is no such keyword.
        TurnbenchError: see `plan_judgments` and `run_judgments`.
    """
    bench = load_bench(bench_name, data_dir)
    plan = plan_judgments(
        _listed(judge_model),
        bench,
        mode,
        _said(options or JudgeOptions(), words, _JUDGING),
        models=_listed(model_list),
        questions=bench.slice(**_slice(words)),
        redo=redo,
    )
    return run_judgments(plan, running, watch=watch)


@takes_only(Slice.__annotations__, _ANSWERING, _JUDGING_TOO)
def run_bench(
    model: str | Sequence[str],
    judge_model: str | Sequence[str],
    bench_name: str = "mt_bench",
    *,
    mode: Mode | None = None,
    model_list: str | Sequence[str] | None = None,
    data_dir: pathlib.Path | str = "data",
    answering: AnswerOptions | None = None,
    judging: JudgeOptions | None = None,
    run_code: bool = False,
    redo: bool = False,
    metrics: str | Sequence[str] = (),
    setup: Setup | None = None,
    config: pathlib.Path | str | None = None,
    running: RunOptions = RunOptions(),
    watch: Watcher = nobody,
    **words: Any,
) -> BenchReport:
    """Let each model answer what it has not answered, and each judge judge each answer as soon as it exists.

    Questions that have checks are checked at the end; `run_code` lets checks run code that a model wrote. Then each
    metric measures the answers, as in `auto_metrics`. `show_result(mode, ...)` shows the results.
    `model` may be empty where `model_list` names models that have answers (see `import_data`). `config` is a file with
    the criteria and metrics of each category (`harness.old.evaluation`). `words` are fields of `AnswerOptions` and
    `JudgeOptions`, with the flags' names (`temperature` is the models', `judge_temperature` the judges'), and those of
    `Slice` (`first_n`, ...).

    Raises:
        TypeError: there is no such keyword.
        TurnbenchError: see `load_metrics`, `Evaluation.planned`, `plan_bench`, `run_plan` and `run_metrics`.
    """
    bench = load_bench(bench_name, data_dir)
    answering = _said(answering or AnswerOptions(), words, _ANSWERING)
    judging = _said(judging or JudgeOptions(), words, _JUDGING_TOO)
    reference = None if judging.reference == NO_REFERENCE else judging.reference
    evaluation = None if config is None else read_evaluation(config)
    if evaluation is not None:
        mode = mode or "single"
        if judging.judge_set == JudgeOptions().judge_set:
            judging = replace(judging, judge_set=usual_judge_set(evaluation.language, mode))
    planned = planned_metrics(
        _listed(metrics),
        bench,
        bench.slice(**_slice(words)),
        given=_setup(setup, bench),
        reference=reference,
        evaluation=evaluation,
        mode=mode,
        judge_set=judging.judge_set,
    )
    check_metrics(planned.metrics, bench, reference)
    if evaluation is not None and mode == "single":
        judging = replace(judging, categories=planned.criteria)
    plan = plan_bench(
        _listed(model),
        _listed(judge_model),
        bench,
        mode,
        answering,
        judging,
        model_list=_listed(model_list),
        questions=planned.questions,
        run_code=run_code,
        redo=redo,
    )
    report = run_plan(plan, running, watch=watch)
    if not planned.metrics:
        return report
    measured = plan_metrics(
        planned.metrics,
        bench,
        models=plan.judgments.models,
        questions=planned.questions,
        reference=reference,
        redo=redo,
    )
    return replace(report, metrics=run_metrics(measured))


@takes_only()
def import_back(
    form: Literal["feedback_collection", "alpaca_eval"],
    output: pathlib.Path | str,
    bench_name: str = "mt_bench",
    *,
    data_dir: pathlib.Path | str = "data",
    judge_model: str | None = None,
    judge_set: str | None = None,
) -> BackReport | dict[str, int]:
    """Write a benchmark's judgments in another project's shape; return what was written.

    That is a `BackReport` of grades as feedback_collection, and of annotations of pairs as alpaca_eval how many there
    are of each model.

    Raises:
        UsageError: no such shape; no such judgments; several judges or judge sets of which none is named; the file is
            there.
        StorageError: the file can't be written.
    """
    bench = load_bench(bench_name, data_dir)
    judge_set = judge_set_name(judge_set) if judge_set else None
    if form == "alpaca_eval":
        return write_annotations(bench, pathlib.Path(output), judge=judge_model, judge_set=judge_set)
    if form == "feedback_collection":
        return write_back(bench, pathlib.Path(output), judge=judge_model, judge_set=judge_set)
    raise UsageError(f"no shape {form!r} to export; there are: feedback_collection, alpaca_eval")


def _slice(words: Mapping[str, Any]) -> Slice:
    """Return the words that choose questions."""
    return cast(Slice, {word: value for word, value in words.items() if word in Slice.__annotations__})


def _said(options: _Options, words: Mapping[str, Any], names: Mapping[str, str]) -> _Options:
    """Return options with the fields set by keywords; `names` are the fields by keyword."""
    return replace(
        options, **{names[word]: _value(names[word], value) for word, value in words.items() if word in names}
    )


def _value(field: str, value: Any) -> Any:
    """Return the value of a field; a single value may be given for several."""
    if field not in {"criteria", "turns", "votes"} or value is None:
        return value
    several = isinstance(value, Iterable) and not isinstance(value, str | bytes | pathlib.Path)
    return tuple(value) if several else (value,)


def _setup(setup: Setup | None, bench: Bench) -> Setup:
    return setup or Setup(language=bench.settings.language)


def _listed(names: _Names) -> _Names | list[str]:
    return [names] if isinstance(names, str) else names

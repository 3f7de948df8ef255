"""A log for each model, as Inspect's viewer and its `inspect log` show and read them.

    2026-11-28T18-30-48-00-00_mt-bench_my-model_85af133a585d02e4.eval
             a zip: header.json, summaries.json, a sample for each conversation; its name says the
             task, as Inspect takes it from there, and has no `%`, with which it cannot open one

    sample   the messages of all turns; epoch N is the model's Nth conversation about a question
    score    one for each judge and turn, with the judge's text as explanation; of a pair
             1 the model won, 0.5 tie, 0 it lost; NaN no verdict, Inspect's word for unscored
    metrics  mean and standard error over questions, as `show_result` has them

Source: the log files of inspect_ai 0.3.285, schema version 2. It compresses its own files with
Zstandard; ours are deflated, which it reads as well.
"""

import io
import json
import math
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from harness import __version__
from harness.bench import Bench
from harness.extras.exporting.export import NO_ANSWER, ExportedVerdict, File, Results
from harness.results import Source, summarize
from harness.types import Answer, Choice, Detail, Question, content_hash, total_usage

_STOP = {"length": "max_tokens", "refused": "content_filter", "stop": "stop", "empty": "stop"}


def inspect(bench: Bench, results: Results) -> Iterator[File]:
    """Yield a log for each model that was judged and whose answers are there."""
    references = bench.references()
    unanswered: list[ExportedVerdict] = []
    for model, verdicts in results.verdicts.items():
        answers = bench.answers(model)
        unanswered += [v for v in verdicts if v.row.question_id not in answers]
        scores = _scores(results, verdicts)
        samples = []
        for question in bench.questions:
            if (answer := answers.get(question.question_id)) is None:
                continue
            target = references.turns.get(question.question_id, []) if references else []
            for choice in answer.choices:
                said = scores.get((question.question_id, choice.index), {})
                samples.append(_sample(question, answer, choice, list(target), said, model))
        if samples:
            header = _header(bench, results, model, answers.values(), samples)
            yield File(_file_name(header), _log(header, samples), {model: len(samples)})
    results.leave_out(NO_ANSWER, unanswered)


def _scores(
    results: Results, verdicts: Sequence[ExportedVerdict]
) -> dict[tuple[Any, int], dict[str, dict[str, Any]]]:
    """Return the scores of each conversation, by question and choice, by the scorer's name."""
    scores: dict[tuple[Any, int], dict[str, dict[str, Any]]] = {}
    for verdict in verdicts:
        row, numbers = verdict.row, {k: _number(v) for k, v in verdict.numbers.items()}
        main = next(iter(numbers.values()), math.nan)
        score = {
            "value": numbers if len(numbers) > 1 else main,
            "answer": str(row.label) if isinstance(row.label, str) else None,
            "explanation": verdict.texts,
            "metadata": {"judge": row.judge_model, "judge_set": row.judge_set, "turn": row.turn},
        }
        of_sample = scores.setdefault((row.question_id, row.choice), {})
        of_sample[_scorer(results, verdict.source, verdict.opponent, row.turn)] = score
    return scores


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _scorer(results: Results, source: Source, opponent: str | None, turn: int) -> str:
    """Return the name of a scorer: `gpt-4.1 turn 1`, `gpt-4.1 against other-model turn 2`."""
    several = len({s.judge_set for s in results.scores.sources_present.values()}) > 1
    parts = [
        source.judge,
        source.judge_set if several else "",
        source.criterion,
        f"against {opponent}" if opponent else "",
        f"sample {source.sample}" if source.sample else "",
        f"turn {turn}",
    ]
    return " ".join(filter(None, parts))


def _sample(
    question: Question,
    answer: Answer,
    choice: Choice,
    target: list[str],
    scores: Mapping[str, Any],
    model: str,
) -> dict[str, Any]:
    asked = choice.user or question.turns
    messages: list[dict[str, Any]] = []
    if answer.system_prompt:
        messages.append({"role": "system", "content": answer.system_prompt})
    for turn, text in enumerate(choice.turns):
        detail = choice.detail(turn + 1)
        if turn < len(asked):
            messages.append({"role": "user", "content": asked[turn], "source": "input"})
        messages.append(_reply(text, detail, model))
    for number, message in enumerate(messages):
        message["id"] = f"{question.question_id}-{choice.index}-{number}"
    last = choice.details[-1] if choice.details else Detail()
    stop = _STOP.get(last.finish_reason, "unknown")
    seconds = [detail.seconds for detail in choice.details if detail.seconds is not None]
    return {
        "id": question.question_id,
        "epoch": choice.index + 1,
        "input": asked[0] if asked else "",
        "target": target or "",
        "messages": messages,
        "output": {
            "model": last.provider_model or model,
            "choices": [{"message": messages[-1], "stop_reason": stop}],
            "completion": choice.turns[-1] if choice.turns else "",
            **({"time": sum(seconds)} if seconds else {}),
        },
        "scores": dict(scores),
        "metadata": {"category": question.category, **question.extra},
        "store": {},
        "events": [],
        "model_usage": _usage(model, choice.details),
        "attachments": {},
        "uuid": content_hash(model, question.question_id, choice.index),
    }


def _reply(text: str, detail: Detail, model: str) -> dict[str, Any]:
    content: Any = text
    if detail.reasoning:
        thought = {"type": "reasoning", "reasoning": detail.reasoning}
        content = [thought, {"type": "text", "text": text}]
    return {"role": "assistant", "content": content, "source": "generate", "model": model}


def _usage(model: str, details: Sequence[Detail]) -> dict[str, Any]:
    usage = total_usage([detail.usage for detail in details])
    if usage.completion_tokens is None and usage.prompt_tokens is None:
        return {}
    cached, written = usage.cached_tokens or 0, usage.written_tokens or 0
    asked, said = usage.prompt_tokens or 0, usage.completion_tokens or 0
    counts = {
        "input_tokens": asked - cached - written,  # Inspect counts these apart
        "output_tokens": said,
        "total_tokens": asked + said,
        "input_tokens_cache_read": usage.cached_tokens,
        "input_tokens_cache_write": usage.written_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
    }
    return {model: {name: count for name, count in counts.items() if count is not None}}


def _header(
    bench: Bench,
    results: Results,
    model: str,
    answers: Any,
    samples: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Return what a log says of the whole: what was asked of whom, and the mean of each scorer."""
    answers = list(answers)
    times = sorted(answer.tstamp for answer in answers if answer.tstamp)
    created, ended = (_time(times[0]), _time(times[-1])) if times else (_time(0), _time(0))
    sampling = [answer.sampling for answer in answers]
    alike = sampling[0] if all(one == sampling[0] for one in sampling) else {}
    config = {k: v for k, v in alike.items() if k in ("temperature", "max_tokens", "top_p", "seed")}
    metrics = _metrics(results, model)
    names = list(dict.fromkeys(score["scorer"] for score in metrics))
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": content_hash(bench.name, model, created),
            "run_id": content_hash(bench.name, created),
            "created": created,
            "task": bench.name,
            "task_id": content_hash(bench.name),
            "task_version": bench.settings.version or 0,
            "dataset": {
                "name": bench.name,
                "samples": len({sample["id"] for sample in samples}),
                "sample_ids": list(dict.fromkeys(sample["id"] for sample in samples)),
            },
            "model": model,
            "model_generate_config": config,
            "config": {"epochs": max(sample["epoch"] for sample in samples)},
            "packages": {"turnbench": __version__},
            "scorers": [{"name": name, "metrics": [{"name": "mean"}]} for name in names],
            "metadata": {"judge_sets": _judge_sets(results)},
        },
        "plan": {"name": "plan", "steps": [], "config": config},
        "results": {
            "total_samples": len(samples),
            "completed_samples": len(samples),
            "scores": metrics,
        },
        "stats": {"started_at": created, "completed_at": ended},
    }


def _file_name(header: Mapping[str, Any]) -> str:
    spec = header["eval"]
    parts = spec["created"], spec["task"], spec["model"], spec["eval_id"]
    return "_".join(re.sub(r"[^\w.-]|_", "-", part) for part in parts) + ".eval"


def _judge_sets(results: Results) -> list[str]:
    sources = results.scores.sources_present.values()
    return sorted({source.versioned_set for source in sources})


def _metrics(results: Results, model: str) -> list[dict[str, Any]]:
    """Return of each scorer the mean and its standard error over questions."""
    scores, found = results.scores, []
    code = scores.models.index(model)
    columns = scores.source, scores.turn, scores.model, scores.opponent, scores.metric
    own = (scores.model == code) | (scores.opponent == code)
    groups = dict.fromkeys(zip(*(column[own].tolist() for column in columns), strict=True))
    for source, turn, first, second, metric in groups:
        parts = zip(columns, (source, turn, first, second, metric), strict=True)
        which = np.logical_and.reduce([column == value for column, value in parts])
        summary = next(s for s in summarize(scores.take(which)) if s["model"] == model)
        other = first if second == code else second
        opponent = None if second < 0 else scores.models[other]
        scorer = _scorer(results, scores.sources[source], opponent, turn)
        name = scores.metrics[metric]
        values = {"mean": summary.mean.value, "stderr": summary.mean.se}
        numbers = {
            key: {"name": key, "value": value}
            for key, value in values.items()
            if not math.isnan(value)
        }
        apart = name in ("score", "win", scores.sources[source].criterion)
        found.append(
            {
                "name": scorer if apart else f"{scorer} {name}",
                "scorer": scorer,
                "scored_samples": summary.n,
                "unscored_samples": summary.failed,
                "metrics": numbers,
            }
        )
    return found


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _log(header: Mapping[str, Any], samples: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the zip; its members have the date 1980, so that equal results are equal files."""
    start = {name: header[name] for name in ("version", "eval", "plan")}
    kept = ("id", "epoch", "input", "target", "metadata", "scores", "model_usage", "uuid")
    summaries = [
        {name: sample[name] for name in kept}
        | {"completed": True, "message_count": len(sample["messages"])}
        for sample in samples
    ]
    members = {"_journal/start.json": start, "header.json": header, "summaries.json": summaries}
    for sample in samples:
        members[f"samples/{sample['id']}_epoch_{sample['epoch']}.json"] = sample
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as log:
        for name, value in members.items():
            text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
            log.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
    return data.getvalue()

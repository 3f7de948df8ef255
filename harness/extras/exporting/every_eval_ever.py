"""Two files for each model in the form of Every Eval Ever 0.3, which its `validate` passes.

    data/BENCH/DEVELOPER/MODEL/UUID.json              numbers: all turns, each turn, each category
    data/BENCH/DEVELOPER/MODEL/UUID_samples.jsonl     a line for each verdict

Numbers and intervals are those of `show_result`. The form demands of every verdict a number and
whether the answer is "correct": it is where the grade is above the middle of its scale, or the pair
was won. There is no place for a pair's winner: each of its two models has a line in its own file,
1 won, 0.5 tie, 0 lost, with the opponent named. Nor is there one for a verdict that could not be
read: it is counted in the numbers' details and left out of the lines.

Not in its schema, but checked: names of files are a hash as UUID of version 4, `file_path` begins
with `data/`, every model says `deployment_type` and `model_availability` (ours: unknown).

Source: every-eval-ever 0.3.0, schemas and validator.
"""

import hashlib
import json
import math
import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from harness import __version__
from harness.bench import Bench
from harness.extras.exporting.export import NO_ANSWER, ExportedVerdict, File, Results
from harness.models.providers import company_of
from harness.results import Panel, Source, conversations, summarize
from harness.results.provenance import Made, answers_made, judgments_made
from harness.results.summarize import Summary
from harness.types import UNSTATED, Answer, Choice, Detail, content_hash, total_usage

_SCHEMA = "0.3.0"
_UNNAMED = "unnamed"
"""The developer of a model whose name says none; the form has no folder without one."""
_NO_VERDICT = "Every Eval Ever has no place for a judgment without a verdict"


def every_eval_ever(bench: Bench, results: Results) -> Iterator[File]:
    """Yield the numbers and the verdicts of each model whose answers are there."""
    groups = results.judged.groups
    judged = {id(panel): judgments_made(panel) for panel in groups}
    panels = _by_source(groups)
    without: dict[str, list[ExportedVerdict]] = {NO_ANSWER: [], _NO_VERDICT: []}
    for model, verdicts in results.verdicts.items():
        answers = bench.answers(model)
        made = answers_made(bench, [model]).get(model, Made())
        newest = max((verdict.row.tstamp or 0 for verdict in verdicts), default=0)
        info = _model_info(model)
        identity = f"{bench.name}/{info['id']}/{newest:.0f}"
        numbers = [
            number
            for panel in groups
            for number in _numbers(bench, results, panel, judged[id(panel)], made, model)
        ]
        head = {"schema_version": _SCHEMA, "evaluation_id": identity}
        lines: list[str] = []
        for verdict in verdicts:
            if (answer := answers.get(verdict.row.question_id)) is None:
                without[NO_ANSWER].append(verdict)
            elif all(value is None for value in verdict.numbers.values()):
                without[_NO_VERDICT].append(verdict)
            else:
                found = _lines(bench, panels[verdict.source], verdict, answer)
                # in ASCII: its validator takes U+2028 for the end of a line
                lines += [json.dumps(head | line) for line in found]
        if not numbers:
            continue
        samples = "".join(line + "\n" for line in lines).encode()
        path = f"data/{_path(bench.name, info)}/{_uuid(identity, samples)}"
        record = head | {
            "retrieved_timestamp": f"{newest:.0f}",
            "source_metadata": {
                "source_name": bench.name,
                "source_type": "evaluation_run",
                "source_organization_name": "unknown",
                "evaluator_relationship": "other",
            },
            "eval_library": {"name": "turnbench", "version": __version__},
            "model_info": info,
            "evaluation_results": numbers,
        }
        if made.last is not None:
            record["evaluation_timestamp"] = datetime.fromtimestamp(made.last, UTC).isoformat()
        if lines:
            record["detailed_evaluation_results"] = {
                "format": "jsonl",
                "file_path": f"{path}_samples.jsonl",
                "hash_algorithm": "sha256",
                "checksum": hashlib.sha256(samples).hexdigest(),
                "total_rows": len(lines),
            }
            yield File(f"{path}_samples.jsonl", samples, {f"verdicts on {model}": len(lines)})
        text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
        yield File(f"{path}.json", text.encode("utf-8", "replace"), {model: len(numbers)})
    for reason, verdicts in without.items():
        results.leave_out(reason, verdicts)


def _model_info(model: str) -> dict[str, Any]:
    """Return what the form wants to know of a model, which rows mostly do not say."""
    details = {"deployment_type": "unknown", "model_availability": "unknown"}
    info: dict[str, Any] = {"name": model, "id": model, "additional_details": details}
    if "/" not in model:
        info["developer"] = company_of(model) or _UNNAMED
    return info


def _path(bench: str, info: dict[str, Any]) -> str:
    developer, _, name = info["id"].rpartition("/")
    first, _, rest = (developer or info["developer"]).partition("/")
    parts = bench, first, "_".join(filter(None, [rest.replace("/", "_"), name]))
    return "/".join(re.sub(r'[<>:"\\|?*\x00-\x1f]', "-", part).rstrip(". ") for part in parts)


def _uuid(identity: str, samples: bytes) -> uuid.UUID:
    """Return a UUID of version 4 that is the same for the same results."""
    return uuid.UUID(bytes=hashlib.sha256(identity.encode() + samples).digest()[:16], version=4)


def _result_id(bench: Bench, panel: Panel, metric: str, part: str) -> str:
    names = bench.name, panel.judge_set, panel.form, *panel.judges, metric, part
    return ".".join(filter(None, names))


def _numbers(
    bench: Bench,
    results: Results,
    panel: Panel,
    judges: dict[str, Made],
    made: Made,
    model: str,
) -> Iterator[dict[str, Any]]:
    """Yield the numbers of a model: of each metric over all turns, by turn and by category."""
    rule = results.judged.view.aggregates.get(panel.judge_set)
    for metric in panel.metrics:
        column = panel.combined.of(metric=metric)
        whole = conversations(column, rule) if rule else column
        config = _metric_config(panel, metric, judges)
        parts: list[tuple[str, Summary]] = [("", one) for one in summarize(whole)]
        parts += [(f"turn {one['turn']}", one) for one in summarize(column, ("model", "turn"))]
        parts += [
            (str(one["category"]), one)
            for one in summarize(whole, ("model", "category"))
            if one.is_named
        ]
        for part, summary in parts:
            if summary["model"] != model or math.isnan(summary.mean.value):
                continue
            name = " ".join(filter(None, [bench.name, metric, part]))
            yield {
                "evaluation_result_id": _result_id(bench, panel, metric, part),
                "evaluation_name": name,
                "source_data": {"dataset_name": bench.name, "source_type": "other"},
                "metric_config": config,
                "score_details": _score(summary),
                "generation_config": {"generation_args": _sampling(made)},
            }


def _score(summary: Summary) -> dict[str, Any]:
    mean = summary.mean
    uncertainty: dict[str, Any] = {"num_samples": mean.n}
    if not math.isnan(mean.se):
        error = {"value": mean.se, "method": "analytic, clustered by question"}
        uncertainty["standard_error"] = error
    if mean.interval is not None:
        uncertainty["confidence_interval"] = {
            "lower": mean.interval.low,
            "upper": mean.interval.high,
            "confidence_level": 0.95,
            "method": "Wilson, by question" if mean.share else "Student's t, by question",
        }
    counts = {"verdicts": str(summary.n), "without_verdict": str(summary.failed)}
    return {"score": mean.value, "uncertainty": uncertainty, "details": counts}


def _metric_config(panel: Panel, metric: str, judges: dict[str, Made]) -> dict[str, Any]:
    low, high = _scale(panel)
    kinds = {"pair": "win_rate", "label": "accuracy", "points": "checklist", "grade": "grade"}
    config: dict[str, Any] = {
        "evaluation_description": f"{metric} by judge set {panel.judge_set}",
        "metric_id": f"turnbench.{kinds.get(panel.form, metric)}",
        "metric_name": metric,
        "metric_kind": kinds.get(panel.form, metric),
        "metric_unit": "proportion" if (low, high) == (0, 1) else "points",
        "lower_is_better": False,
        "score_type": "continuous",
        "min_score": "-Infinity" if low is None else low,
        "max_score": "Infinity" if high is None else high,
        "additional_details": {"is_correct": _RULES.get(panel.form, _RULES["grade"])},
    }
    if panel.is_judged:
        config["llm_scoring"] = _scoring(panel, judges)
    return config


_RULES = {
    "grade": "the grade is above the middle of its scale",
    "pair": "the pair was won: 1 won, 0.5 tie, 0 lost",
    "label": "the share of the label is above one half",
    "points": "more than half of the weight is met",
}
"""When a verdict counts as `is_correct`, which is not turnbench's word."""


def _scale(panel: Panel) -> tuple[float | None, float | None]:
    if panel.form in ("pair", "label", "points", "vote"):
        return 0, 1
    if panel.scale is not None:
        return panel.scale
    return (1, 10) if panel.form == "grade" else (None, None)


def _scoring(panel: Panel, judges: dict[str, Made]) -> dict[str, Any]:
    """Return by whom and with which prompts verdicts were given."""
    prompts = sorted({prompt for made in judges.values() for prompt in made.prompts})
    version = f" version {', '.join(panel.versions)}" if panel.versions else ""
    name = "unknown" if panel.judge_set == UNSTATED else f"{panel.judge_set}{version}"
    by_hash = f", prompts {' '.join(prompts)}" if prompts else ""
    found = []
    for judge in panel.judges:
        config: dict[str, Any] = {"model_info": _model_info(judge)}
        if judge in judges:
            config |= {
                name: value
                for name, value in _sampling(judges[judge]).items()
                if name == "temperature"
            }
        found.append(config)
    scoring: dict[str, Any] = {
        "judges": found,
        "input_prompt": f"turnbench judge set {name}{by_hash}",
    }
    return scoring | ({"aggregation_method": "average"} if len(found) > 1 else {})


def _sampling(made: Made) -> dict[str, Any]:
    """Return the parameters that had one value in all calls."""
    names = ("temperature", "top_p", "top_k", "max_tokens")
    values = {name: made.sampling.get(name, []) for name in names}
    one = {name: found[0] for name, found in values.items() if len(found) == 1}
    return {name: value for name, value in one.items() if isinstance(value, int | float)}


def _lines(
    bench: Bench, panel: Panel, verdict: ExportedVerdict, answer: Answer
) -> Iterator[dict[str, Any]]:
    """Yield a line for each number of a verdict."""
    row = verdict.row
    choice = next((c for c in answer.choices if c.index == row.choice), answer.choices[0])
    low, high = _scale(panel)
    middle = (low + high) / 2 if low is not None and high is not None else 0.0
    for metric, value in verdict.numbers.items():
        if value is None or metric not in panel.metrics:
            continue
        part = f"turn {row.turn}"
        yield {
            "model_id": verdict.model,
            "evaluation_name": " ".join([bench.name, metric, part]),
            "evaluation_result_id": _result_id(bench, panel, metric, part),
            "sample_id": str(row.question_id),
            **_conversation(bench, verdict, answer, choice),
            "evaluation": {
                "score": value,
                "is_correct": value > middle,
                "num_turns": len(choice.turns),
            },
            "metadata": _said(bench, verdict, metric),
        }


def _by_source(panels: Iterable[Panel]) -> dict[Source, Panel]:
    """Return the panel that the verdicts of each source are in."""
    return {source: panel for panel in panels for source in panel.scores.sources_present.values()}


def _conversation(
    bench: Bench, verdict: ExportedVerdict, answer: Answer, choice: Choice
) -> dict[str, Any]:
    """Return what was asked and answered, up to the last turn."""
    question, row = bench.by_id[verdict.row.question_id], verdict.row
    references = bench.references()
    reference = list(references.turns.get(row.question_id, [])) if references else []
    asked = choice.user or question.turns
    messages: list[dict[str, Any]] = []
    if answer.system_prompt:
        messages.append({"turn_idx": 0, "role": "system", "content": answer.system_prompt})
    judged = 0
    for turn, text in enumerate(choice.turns):
        detail = choice.detail(turn + 1)
        said = asked[turn] if turn < len(asked) else ""
        messages.append({"turn_idx": len(messages), "role": "user", "content": said})
        judged = len(messages) if turn == row.turn - 1 else judged
        reply = {"turn_idx": len(messages), "role": "assistant", "content": text}
        messages.append(reply | ({"reasoning_trace": detail.reasoning} if detail.reasoning else {}))
    one = len(choice.turns) == 1 and not answer.system_prompt
    reply_text = choice.turns[row.turn - 1] if row.turn <= len(choice.turns) else ""
    raw = asked[row.turn - 1] if row.turn <= len(asked) else ""
    found: dict[str, Any] = {
        "sample_hash": content_hash(raw, reference),
        "interaction_type": "single_turn" if one else "multi_turn",
        "input": {"raw": raw, "reference": reference},
        "answer_attribution": [
            {
                "turn_idx": 0 if one else judged,
                "source": "output.raw" if one else f"messages[{judged}].content",
                "extracted_value": reply_text,
                "extraction_method": "llm_judge",
                "is_terminal": row.turn >= len(choice.turns),
            }
        ],
    }
    usage = _usage(choice.details)
    found |= {"token_usage": usage} if usage else {}
    return found | ({"output": {"raw": choice.turns}} if one else {"messages": messages})


def _usage(details: Sequence[Detail]) -> dict[str, int]:
    usage = total_usage([detail.usage for detail in details])
    asked, said = usage.prompt_tokens, usage.completion_tokens
    if asked is None or said is None:
        return {}
    counts = {
        "input_tokens": asked,
        "output_tokens": said,
        "total_tokens": asked + said,
        "reasoning_tokens": usage.reasoning_tokens,
    }
    return {name: count for name, count in counts.items() if count is not None}


def _said(bench: Bench, verdict: ExportedVerdict, metric: str) -> dict[str, str]:
    """Return what else there is to a verdict, as texts."""
    row, question = verdict.row, bench.by_id[verdict.row.question_id]
    texts = {
        "category": question.category,
        "turn": str(row.turn),
        "judge": row.judge_model,
        "judge_set": f"{row.judge_set} {row.judge_set_version}".strip(),
        "metric": metric,
        "explanation": verdict.texts,
        "label": row.label if isinstance(row.label, str) else "",
    }
    if verdict.opponent is not None:
        own = "model_1" if verdict.model == row.models[0] else "model_2"
        words = {"tie": "tie", own: "won", None: "", "error": "no verdict"}
        games = [words.get(winner, "lost") for winner in (row.g1_winner, row.g2_winner)]
        texts |= {"opponent": verdict.opponent, "game_1": games[0], "game_2": games[1]}
    return {name: text for name, text in texts.items() if text}

"""Names to modules: the one table by which the core reaches providers, metrics, reports and extras.

A name maps to "module:function", imported when it is asked for. Other packages add names by entry
points: the group `turnbench.providers` adds to the kind `provider`, and so on.

>>> find("metric", "blue")
Traceback (most recent call last):
...
harness.errors.UsageError: no metric 'blue'; did you mean bleu?
"""

import importlib
from collections.abc import Callable
from typing import Any

from harness.errors import UsageError, near

TABLE: dict[str, dict[str, str]] = {
    "provider": {
        "openai": "harness.models.openai:OpenAIChat",
        "openai_responses": "harness.models.openai_responses:OpenAIResponses",
        "azure": "harness.models.azure:AzureChat",
        "anthropic": "harness.models.anthropic:AnthropicMessages",
        "gemini": "harness.models.gemini:Gemini",
        "completions": "harness.models.completions:Completions",
        "builtin": "harness.models.builtin:open",
        "builtin_judge": "harness.judging.builtin:open",
        "local": "harness.extras.local.model:LocalModel",
    },
    "metric": {
        **{
            name: f"harness.metrics.{name}:metric"
            for name in ("bleu", "rouge", "chrf", "token_f1", "exact_match", "label_match")
        },
        "distinct": "harness.metrics.distinct:metric",
        "checks": "harness.extras.checks.metric:metric",
        "bert_score": "harness.extras.local.bert_score:metric",
        "unieval": "harness.extras.local.unieval:metric",
    },
    "check": {
        "validate": "harness.extras.checks:validate",
        "turn": "harness.extras.checks:check_turn",
        "describe": "harness.extras.checks:describe",
        "all_pass": "harness.extras.checks:all_pass",
    },
    "questions": {
        "make_set": "turnbench_questions:make_set",
        "find": "turnbench_questions.templates:find",
        "shipped": "turnbench_questions.templates:shipped",
        "of_bench": "turnbench_questions.templates:of_bench",
        "rows": "turnbench_questions:rows",
        "prove": "turnbench_questions.proving:prove",
    },
    "question_template": {
        name: f"turnbench_questions.{name}:make"
        for name in (
            *("measured", "digits_prose", "innkeeper", "gatekeeper", "undecided", "lineup"),
            *("smallest_repair", "three_languages", "drawer", "paths", "take_game"),
            *("greedy_coins", "what_prints", "machine", "sql_nulls", "regex_groups", "daybook"),
            *("hold_null", "counter_claims", "station_log", "resistors", "pedigree", "bylaw"),
            *("ballots", "inheritance", "language"),
        )
    },
    "page": {  # of show_result: a flag of its name shows it in place of the results
        "results": "harness.reporting.results_page:RESULTS",
        "reach": "harness.reporting.reach:REACH",
        "renewed": "harness.reporting.renewed:RENEWED",
        "against": "harness.reporting.against:AGAINST",
        "board": "harness.reporting.other_pages:BOARD",
        "changes": "harness.reporting.changes:CHANGES",
        "cost": "harness.reporting.other_pages:COST",
        "each_time": "harness.reporting.each_time:EACH_TIME",
        "efficiency": "harness.reporting.other_pages:EFFICIENCY",
        "first_turn_effect": "harness.reporting.other_pages:FIRST_TURN_EFFECT",
        "style": "harness.reporting.other_pages:STYLE",
        "trend": "harness.reporting.trend:TREND",
    },
    "shown": {  # the page that a notebook shows of what a command returns, by its class
        "BenchReport": "harness.cli.check_bench:page",
        "ExportReport": "harness.cli.export:page",
        "ImportReport": "harness.cli.import_data:page",
        "MetricReport": "harness.cli.measured:page",
    },
    "report": {
        "agreement": "harness.extras.judges.agreement:REPORT",
        "attack": "harness.extras.judges.attack:REPORT",
        "checks": "harness.extras.judges.checks:REPORT",
        "corrected": "harness.extras.judges.corrected:REPORT",
        "judges": "harness.extras.judges.judges:REPORT",
        "length": "harness.extras.judges.length:REPORT",
        "position": "harness.extras.judges.position:REPORT",
        "reference": "harness.extras.judges.reference:REPORT",
        "repeat": "harness.extras.judges.repeat:REPORT",
        "wording": "harness.extras.judges.wording:REPORT",
        "worth": "harness.extras.judges.worth:REPORT",
    },
    "importer": {
        "feedback_collection": "harness.extras.importing.prometheus:feedback_collection",
        "preference_collection": "harness.extras.importing.prometheus:preference_collection",
        "colossalai": "harness.extras.importing.colossalai:colossalai",
        "alpaca_eval": "harness.extras.importing.alpaca_eval:alpaca_eval",
        "arena_hard": "harness.extras.importing.arena_hard:arena_hard",
        "battles": "harness.extras.importing.battles:battles",
        "judge_pairs": "harness.extras.importing.judge_pairs:judge_pairs",
        "short_facts": "harness.extras.importing.short_facts:short_facts",
        "ifeval": "harness.extras.importing.ifeval:ifeval",
        "inspect": "harness.extras.importing.inspect:inspect",
        "lm_eval": "harness.extras.importing.lm_eval:lm_eval",
        "mt_bench_101": "harness.extras.importing.mt_bench_101:mt_bench_101",
        "messages": "harness.extras.importing.messages:messages",
        "votes": "harness.extras.importing.votes:votes",
    },
    "exporter": {
        name: f"harness.extras.exporting.{name}:{name}"
        for name in (
            "fastchat",
            "alpaca_eval",
            "feedback_collection",
            "inspect",
            "every_eval_ever",
            "card",
        )
    },
    "importing": {
        "import_data": "harness.extras.importing.reading:import_data",
        "export": "harness.extras.exporting.export:export",
        "fetch_bench": "harness.extras.importing.originals:fetch_bench",
        "originals": "harness.extras.importing.originals:originals",
    },
    "judge_file": {  # of a path, the JudgeSet that another project's prompt file makes
        "fastchat": "harness.judging.fastchat:load",
        "colossalai": "harness.extras.importing.judge_files:colossalai",
        "alpaca_eval": "harness.extras.importing.judge_files:alpaca_eval",
        # of ColossalAI's configuration: an Evaluation; the metrics that it names
        "colossalai_config": "harness.extras.importing.evaluation:read_evaluation",
        "colossalai_metrics": "harness.extras.importing.evaluation:metrics_of",
    },
    "levels": {  # of run_bench: questions in waves that get harder
        "run": "harness.extras.levels:run_levels",
    },
    "stopping": {  # plans to carry out one after the other, as far as they are needed
        "until": "harness.results.until:stages",
    },
    "server": {
        "vllm": "harness.extras.local.serving:served",
    },
    "engine": {
        "batch": "harness.extras.batches:BatchEngine",
        "ray": "harness.extras.cluster:RayEngine",
    },
    "format": {
        "text": "harness.reporting.formats:text",
        "json": "harness.reporting.formats:json",
        "csv": "harness.reporting.formats:csv",
        "markdown": "harness.reporting.formats:markdown",
        "latex": "harness.reporting.formats:latex",
        "methods": "harness.reporting.formats:methods",
        "html": "harness.reporting.html:html",
    },
}


def names(kind: str) -> list[str]:
    """Return the names of a kind, those of entry points included."""
    return sorted({**_entry_points(kind), **TABLE[kind]})


def find(kind: str, name: str) -> Callable[..., Any]:
    """Return what a name of a kind stands for.

    Raises:
        UsageError: there is no such name; the nearest ones are in the message.
    """
    target = TABLE[kind].get(name) or _entry_points(kind).get(name)
    if target is None:
        raise UsageError(f"no {kind.replace('_', ' ')} {name!r}{near(name, names(kind))}")
    module, _, attribute = target.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    return found


def _entry_points(kind: str) -> dict[str, str]:
    from importlib.metadata import entry_points

    return {point.name: point.value for point in entry_points(group=f"turnbench.{kind}s")}


class Shown:
    """What a command returns; a notebook shows the page that the kind `shown` makes of it."""

    def _repr_html_(self) -> str:
        html: str = find("shown", type(self).__name__)(self)._repr_html_()
        return html

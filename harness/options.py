"""Every command's options: a record is the flags, the keywords of Python calls and the manual.

A field `first_n` is the flag `--first-n` and the keyword `first_n=`; the text under it is its line
of `--help`, its type and `Meta` say what it may be. A record contains groups, which several
commands share; outside everything is flat. `harness/cli/parser.py` makes the parser.
"""

import functools
import pathlib
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from harness.errors import UsageError, near
from harness.types import Mode

T = TypeVar("T", bound=Struct)
Names: TypeAlias = tuple[str, ...]
Path: TypeAlias = pathlib.Path


class Flag(Struct, frozen=True):
    """How a field looks on the command line, beyond its name and type."""

    metavar: str = ""
    aliases: tuple[str, ...] = ()
    const: Any = None
    """The value of the flag alone, where a value may follow."""
    positional: bool = False
    pages: tuple[str, ...] = ()
    """The pages or reports of a command that it, or a whole group, is for; empty: all of them."""


class Prefix(Struct, frozen=True):
    """Before the names of a group's fields, where a command contains the group twice."""

    text: str


Count: TypeAlias = Annotated[int, Meta(ge=1)]
FromZero: TypeAlias = Annotated[int, Meta(ge=0)]
Positive: TypeAlias = Annotated[float, Meta(gt=0)]
Level: TypeAlias = Annotated[int, Meta(ge=1, le=10)]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Temperature: TypeAlias = Annotated[float, Meta(ge=0, le=2)]
PartOf: TypeAlias = Annotated[float, Meta(gt=0, le=1)]
ReasoningShown: TypeAlias = Literal["split", "keep"]
Format: TypeAlias = Literal["text", "json", "csv", "markdown", "html", "latex", "methods"]


class Command(Struct, kw_only=True, frozen=True):
    """What every command's record has."""

    typed: frozenset[str] = frozenset()
    """The names of the options that were given with the command; others are turnbench.toml's or
    defaults."""


# Groups


class BenchName(Struct, kw_only=True, frozen=True):
    """Benchmark."""

    bench_name: Annotated[str, Flag("NAME")] = "mt_bench"
    """a folder in the data folder, or a shipped benchmark"""
    data_dir: Annotated[str, Flag("DIR")] = "data"
    """data folder, where answers and judgments are"""
    reasoning: ReasoningShown = "split"
    """reasoning in other tools' answers (<think>…</think>): kept from judges and metrics, or shown
    as the text of the answer"""

    @property
    def shown(self) -> "ShownBench":
        """The same of `show_result`, which takes several."""
        return ShownBench(
            bench_name=(self.bench_name,), data_dir=self.data_dir, reasoning=self.reasoning
        )


class ShownBench(Struct, kw_only=True, frozen=True):
    """Benchmarks."""

    bench_name: Annotated[Names, Flag("NAME")] = ("mt_bench",)
    """a folder in the data folder, or a shipped benchmark; with --against several"""
    data_dir: Annotated[str, Flag("DIR")] = "data"
    """data folder, where answers and judgments are"""
    reasoning: ReasoningShown = "split"
    """reasoning in other tools' answers (<think>…</think>): kept from judges and metrics, or shown
    as the text of the answer"""

    @property
    def first(self) -> BenchName:
        """The first of them."""
        return BenchName(
            bench_name=self.bench_name[0], data_dir=self.data_dir, reasoning=self.reasoning
        )


class Slice(Struct, kw_only=True, frozen=True):
    """Questions, turns and models to take."""

    question_begin: Annotated[FromZero, Flag("N")] = 0
    """the first question to take, counted from 0 in the file"""
    question_end: Annotated[FromZero | None, Flag("N")] = None
    """the first question not to take (default: the end)"""
    first_n: Annotated[Count | None, Flag("N")] = None
    """only the first N of these questions"""
    sample_n: Annotated[Count | None, Flag("N")] = None
    """only N of these questions, spread over the categories; always the same ones"""
    turns: Annotated[tuple[Count, ...], Flag("N")] = ()
    """only these turns; the first is 1"""
    criterion: Annotated[Names, Flag("NAME")] = ()
    """only these criteria of the judge set"""
    model_list: Annotated[Names, Flag("NAME")] = ()
    """only these models"""


class ShownSlice(Slice, kw_only=True, frozen=True):
    """Questions, turns and models to show."""

    model_list: Annotated[Names, Flag("NAME", ("--model",))] = ()
    """only these models; one alone is compared with each of the others"""


class AnswerSampling(Struct, kw_only=True, frozen=True):
    """Sampling of the answers."""

    temperature: Annotated[Temperature | None, Flag("T", ("--force-temperature",))] = None
    """one temperature for all questions (default: by category as in MT-Bench)"""
    max_tokens: Annotated[Count | None, Flag("N", ("--max-new-token",))] = None
    """the most tokens of a reply, reasoning included (default: the benchmark's, else 4096)"""
    top_p: Annotated[PartOf | None, Flag("P")] = None
    """nucleus sampling (default: the endpoint's)"""
    seed: Annotated[int | None, Flag("N")] = None
    """sent to endpoints that take one"""
    num_choices: Annotated[Count, Flag("N")] = 1
    """conversations for each question"""
    retry_cut: Annotated[Annotated[float, Meta(ge=1)] | None, Flag("FACTOR")] = None
    """ask once more for a reply that was cut, with FACTOR times the limit; 1: never (default: 2)"""
    param: Annotated[Names, Flag("NAME=VALUE")] = ()
    """further parameters: reasoning_effort, thinking_budget, top_k, min_p, stop, frequency_penalty,
    presence_penalty, repetition_penalty, extra_body.FIELD, extra_headers.NAME"""
    system: Annotated[str | None, Flag("TEXT")] = None
    """system prompt (default: the benchmark's)"""


class JudgeSampling(Struct, kw_only=True, frozen=True):
    """Sampling of the judge."""

    temperature: Annotated[Temperature | None, Flag("T", ("--force-temperature",))] = None
    """the judge's temperature (default: the judge set's)"""
    max_tokens: Annotated[Count | None, Flag("N", ("--max-new-token",))] = None
    """the most tokens of a judgment (default: the judge set's)"""
    param: Annotated[Names, Flag("NAME=VALUE")] = ()
    """further parameters of the requests to the judge, as for gen_answer"""


class Address(Struct, kw_only=True, frozen=True):
    """Endpoint (keys come from the environment only)."""

    base_url: Annotated[str | None, Flag("URL", ("--openai-api-base",))] = None
    """address of an OpenAI-compatible server (default: the provider's)"""
    api_key_env: Annotated[str | None, Flag("VARIABLE")] = None
    """environment variable that holds the key for the base URL (default: no key is sent)"""


class Limits(Struct, kw_only=True, frozen=True):
    """Calls."""

    parallel: Annotated[Count | Literal["auto"], Flag("N")] = "auto"
    """calls in flight at once; auto finds out how many each endpoint takes"""
    rpm: Annotated[Positive | None, Flag("N")] = None
    """the most calls per minute to each endpoint"""
    tpm: Annotated[Positive | None, Flag("N")] = None
    """the most tokens per minute, prompt and reply, of each endpoint"""
    timeout: Annotated[Positive | None, Flag("SECONDS")] = None
    """the longest that one call may take (default: 600)"""
    patience: Annotated[Positive | None, Flag("SECONDS")] = None
    """give up an endpoint that has failed for so long (default: 600; until its first answer 120
    for 5xx, 30 without a connection)"""
    max_wait: Annotated[Positive | None, Flag("SECONDS")] = None
    """wait no longer where an endpoint asks for more (default: as long as --patience)"""
    cache: Annotated[str | None, Flag("FILE", const="")] = None
    """reuse replies to equal requests; without FILE: .turnbench/cache.sqlite in the data folder"""
    max_cost: Annotated[Positive | None, Flag("DOLLARS")] = None
    """stop before a call that could raise the cost of this run above this"""
    dry_run: bool = False
    """print the calls, tokens and cost that are still to come; make no call"""
    yes: Annotated[bool, Flag(aliases=("-y",))] = False
    """do not ask before calls that cost something"""
    batch: bool = False
    """submit the calls as batches, answered within a day at half the price"""
    ray: Annotated[str | None, Flag("ADDRESS", const="auto")] = None
    """make the calls on the workers of a Ray cluster"""
    gpus_per_model: Annotated[Positive | None, Flag("N")] = None
    """with --ray, GPUs for each copy of local weights"""


class Models(Struct, kw_only=True, frozen=True):
    """Models to ask."""

    model: Annotated[Names, Flag("NAME")] = ()
    """gpt-..., claude-..., builtin/..., a name in turnbench.toml, or any name with --base-url"""
    model_path: Annotated[str | None, Flag("PATH")] = None
    """local weights: a folder, or a repository of the Hugging Face hub (extra [models])"""
    model_id: Annotated[Names, Flag("NAME")] = ()
    """the name of these weights, or of imported answers, in every file"""
    conv_template: Annotated[str | None, Flag("NAME")] = None
    """for servers that only offer /v1/completions: the fschat conversation template"""
    dtype: Literal["auto", "float32", "float16", "bfloat16"] = "auto"
    """precision of local weights; auto: as they are stored"""
    device: Annotated[str | None, Flag("NAME")] = None
    """device for local models: cpu, cuda, cuda:1, auto for all GPUs (default: a GPU if any)"""
    batch_size: Annotated[Count | None, Flag("N")] = None
    """conversations that local models compute at once"""
    serve: Annotated[str | None, Flag("SERVER")] = None
    """serve the weights with vllm for this run; its flags may follow, as in 'vllm --seed 1'"""


class PlayedUser(Struct, kw_only=True, frozen=True):
    """A user played by a chat model, for questions that have one."""

    user: Annotated[str | None, Flag("NAME")] = None
    """the chat model that plays the user; builtin/user needs no key"""
    user_samples: Annotated[Count, Flag("K")] = 1
    """conversations for each question; judge them with --choices all"""
    user_seed: Annotated[int, Flag("N")] = 0
    """seed of the first conversation"""
    user_turns: Annotated[Count | None, Flag("N")] = None
    """the most turns of a conversation (default: the question's)"""
    user_prompt: Annotated[Path | None, Flag("FILE")] = None
    """the user's prompt, a TOML file (default: the shipped one)"""
    user_base_url: Annotated[str | None, Flag("URL")] = None
    """address of the user's server"""
    user_api_key_env: Annotated[str | None, Flag("VARIABLE")] = None
    """environment variable that holds its key"""


class History(Struct, kw_only=True, frozen=True):
    """Replies to earlier turns."""

    history: Annotated[str, Flag("NAME")] = "own"
    """whose replies the model continues from: own, reference, a reference file or a model; unless
    own, answers are those of MODEL+history=NAME"""


class Judging(Struct, kw_only=True, frozen=True):
    """Judging."""

    judge_model: Annotated[Names, Flag("NAME")] = ()
    """judges: any chat model; builtin/overlap needs no key and is for trying things out"""
    mode: Mode | None = None
    """grade single answers, compare each with a baseline, or compare all pairs (default: the judge
    set's, else single)"""
    judge_set: Annotated[str | None, Flag("SET", ("--judge-file",))] = None
    """a shipped judge set, a folder of TOML, or a prompt file of FastChat, ColossalAI or AlpacaEval
    (default: the benchmark's, else mt_bench)"""
    baseline_model: Annotated[str | None, Flag("NAME")] = None
    """the baseline of pairwise-baseline (default: the judge set's)"""
    votes: Annotated[tuple[Path, ...], Flag("FILE")] = ()
    """with pairwise-all: judge only the pairs that people voted on"""
    share: Annotated[PartOf | None, Flag("SHARE")] = None
    """with pairwise-all: judge only this share of the pairs, drawn at random, such as 0.1; a larger
    share and further models add to it"""
    reference: Annotated[str | None, Flag("NAME")] = None
    """whose answers are the references: a reference file or a model; none: judge without"""
    samples: Annotated[Count, Flag("K")] = 1
    """judge each match K times"""
    choices: Literal["first", "all"] = "first"
    """which conversations of an answer to judge"""
    structured: Literal["auto", "off"] = "auto"
    """auto: enforce the judge set's JSON schema where the provider can; off: ask in the prompt"""
    skip_missing: bool = False
    """leave out questions that lack an answer or reference, instead of stopping"""
    redo: Annotated[Literal["all", "failed"] | None, Flag("all|failed", const="all")] = None
    """judge again what is judged, or with failed what has no verdict; old rows are kept aside"""


class Select(Struct, kw_only=True, frozen=True):
    """Which judgments."""

    mode: Mode | None = None
    """grades, pairs with a baseline, or all pairs (default: all there is)"""
    input_file: Annotated[tuple[Path, ...], Flag("FILE")] = ()
    """judgment or vote files (default: those of the benchmark)"""
    judge_model: Annotated[Names, Flag("NAME")] = ()
    """whose judgments; several are shown as a panel (default: all)"""
    judge_set: Annotated[str | None, Flag("SET")] = None
    """judge set of the judgments (default: the only one)"""
    sample: Annotated[FromZero | None, Flag("N")] = None
    """one sample of the judge (default: the mean of all)"""
    score_method: Literal["text", "logprobs"] | None = None
    """verdicts read from the text, or weighed by log-probabilities (default: the only ones)"""
    baseline_model: Annotated[str | None, Flag("NAME")] = None
    """the baseline of pairwise-baseline (default: the judge set's, else the model in all pairs)"""
    votes: Annotated[tuple[Path, ...], Flag("FILE")] = ()
    """files of votes (default: those in human_judgment/)"""
    exclude: Annotated[Names, Flag("GLOB")] = ()
    """voters to leave out, such as 'author*'"""


class Output(Struct, kw_only=True, frozen=True):
    """Output."""

    format: Format = "text"
    """how to print; json and csv are not rounded; latex and methods are a paper's tables and its
    paragraph about how the numbers were made"""


class Board(Struct, kw_only=True, frozen=True):
    """Leaderboard, for pairs with a baseline."""

    length_control: Annotated[Literal["alpaca", "off"] | None, Flag(pages=("results", "board"))] = (
        None
    )
    """win rates at equal length as alpaca_eval fits them (extra [alpaca]) (default: the judge
    set's)"""
    board: Annotated[Path | None, Flag("FILE")] = None
    """write the win rates to a CSV file with AlpacaEval's columns, or add them to it"""
    overwrite: Annotated[bool, Flag(pages=("board",))] = False
    """with --board: replace rows of models that it has"""
    allow: Annotated[Names, Flag("NAME", pages=("board", "against"))] = ()
    """what may differ from the board's rows, or with --against between the runs: judge, judge-set,
    baseline, sampling, questions, snapshot"""
    sort: Annotated[str | None, Flag("COLUMN", pages=("results", "board"))] = None
    """column by which models are sorted"""


class Gate(Struct, kw_only=True, frozen=True):
    """A gate: this run against a stored one."""

    against: Annotated[tuple[Path, ...], Flag("FILE")] = ()
    """judgments (or with --metric numbers) of another run of the same questions to compare with;
    of several benchmarks one file each"""
    compare: Annotated[Names, Flag("NEW=OLD", pages=("against",))] = ()
    """with --against: which model of this run is which of the other"""
    margin: Annotated[Annotated[float, Meta(ge=0)] | None, Flag("X", pages=("against",))] = None
    """with --against: the largest drop that does not matter"""
    fail_if_worse: Annotated[bool, Flag(pages=("against",))] = False
    """with --against: exit with 1 if a model is worse, or not shown to be as good"""
    any: Annotated[bool, Flag(pages=("against",))] = False
    """with --against on several benchmarks: fail if one is significantly worse (default: if one is
    not shown to be as good)"""
    series: Annotated[Names, Flag("N FILE", pages=("against",))] = ()
    """with --against: one of N gates against one stored run; FILE has those that were made"""
    record: Annotated[bool, Flag(pages=("against",))] = False
    """with --series: write this gate into FILE"""
    max_missing: Annotated[Share, Flag("SHARE", pages=("against",))] = 0.05
    """with --against: the largest share of judgments that may be missing beyond those that the
    other run lacks"""


class MetricOptions(Struct, kw_only=True, frozen=True):
    """Metrics that need no judge."""

    metrics: Annotated[Names, Flag("NAME")] = ()
    """bleu, rouge, chrf, token_f1, exact_match, label_match, distinct (all of these: text),
    bert_score, unieval"""
    without: Annotated[Names, Flag("NAME")] = ()
    """metrics to leave out, such as those whose extra is not installed"""
    variant: Annotated[str, Flag("NAME")] = "default"
    """default, or colossalai: numbers comparable with ColossalAI's"""
    language: Annotated[str | None, Flag("CODE")] = None
    """language of the texts, such as en, zh, hu (default: the benchmark's)"""
    bert_model: Annotated[str | None, Flag("DIR_OR_REPO")] = None
    """the model of bert_score (extra [models])"""
    bert_layer: Annotated[FromZero | None, Flag("N")] = None
    """the layer whose vectors bert_score compares"""
    unieval_model: Annotated[Names, Flag("[TASK=]DIR_OR_REPO")] = ()
    """the checkpoint of unieval, for a task or for all"""
    dimension: Annotated[Names, Flag("TASK/NAME")] = ()
    """the dimensions of unieval (default: all of the tasks that have a model)"""
    unieval_questions: Annotated[Path | None, Flag("FILE")] = None
    """the questions of unieval as TOML (default: our own wording); turnbench fetch_bench
    unieval_questions has the published ones"""


# Commands


class GenAnswer(Command, kw_only=True, frozen=True):
    """Let chat models answer every question that they have not answered yet.

    gen_answer --model builtin/reference builtin/eliza
    gen_answer --model my-model --base-url http://localhost:8000/v1
    gen_answer --model-path ./my-weights --model-id my-model
    """

    models: Models = Models()
    bench: BenchName = BenchName()
    slice: Slice = Slice()
    answer_file: Annotated[Path | None, Flag("FILE")] = None
    """write the answers of the one model to this file (default: in model_answer/)"""
    redo: bool = False
    """answer again what is answered; old rows are kept aside"""
    skip_missing: bool = False
    """leave out questions for which --history has no turns"""
    history: History = History()
    user: PlayedUser = PlayedUser()
    sampling: AnswerSampling = AnswerSampling()
    endpoint: Address = Address()
    limits: Limits = Limits()


class GenJudgment(Command, kw_only=True, frozen=True):
    """Let judges grade or compare every answer that they have not judged yet.

    gen_judgment --judge-model builtin/overlap
    gen_judgment --judge-model gpt-4.1 --mode pairwise-all
    gen_judgment --judge-model gpt-4.1 --judge-set prometheus --dry-run
    """

    judging: Judging = Judging()
    until: Annotated[Positive | None, Flag("DIFFERENCE")] = None
    """judge in five looks, and a model no further when each of its comparisons is significant or
    surely under DIFFERENCE, of grades or win rates; for few models: of published grades it saved
    39% for two, 27% for three, 12% for five, 4% for eight, nothing for 34"""
    anchors: Annotated[Names, Flag("FILE [N|all]")] = ()
    """judge N (default: all) of the answers that FILE judged anew, drawn over the questions, to
    know whether the judge has changed; only show_result --against reads them"""
    bench: BenchName = BenchName()
    slice: Slice = Slice()
    sampling: JudgeSampling = JudgeSampling()
    endpoint: Address = Address()
    limits: Limits = Limits()


class ShowResult(Command, kw_only=True, frozen=True):
    """Show which model is better, at what, and how sure that is.

    show_result
    show_result --judge-model gpt-4.1 claude-opus-4-5 --details
    show_result --against earlier.jsonl --fail-if-worse
    """

    select: Select = Select()
    metric: Annotated[Names, Flag("NAME")] = ()
    """show metrics that need no judge, such as checks or bleu, instead of judgments"""
    variant: Annotated[str | None, Flag("NAME")] = None
    """which variant of the metrics (default: the only one)"""
    bench: ShownBench = ShownBench()
    slice: ShownSlice = ShownSlice()
    by: Annotated[Names, Flag("FIELD", pages=("results",))] = ()
    """group by a field of the questions, such as category or difficulty, or by question, turn"""
    aggregate: Annotated[
        Literal["pooled", "mean", "min", "first", "last"] | None,
        Flag(pages=("results", "against", "board")),
    ] = None
    """one number a conversation of several turns (default: the judge set's, else pooled)"""
    common: bool = False
    """count only what all models were judged on"""
    count_failed: Annotated[bool, Flag(pages=("results", "against", "board"))] = False
    """count a judgment without a grade as -1, as some published averages did"""
    details: bool = False
    """everything: intervals of turns and categories, pairs, strengths, all notes"""
    gate: Gate = Gate()
    style: Annotated[tuple[Literal["length", "headers", "lists", "bold"], ...], Flag()] = ()
    """show strengths at equal length, headers, lists, bold instead of results"""
    cost: bool = False
    """show what answers and judgments cost"""
    efficiency: bool = False
    """show quality beside cost, tokens, seconds and length"""
    first_turn_effect: bool = False
    """show how turn 2 is graded after the model's own first turn and after a given one"""
    each_time: bool = False
    """show of several conversations (--num-choices) how often all pass, with --metric checks, and
    whether more questions or more conversations would narrow the intervals"""
    renewed: Annotated[tuple[Path, ...], Flag("DIR")] = ()
    """show whether a model knows the questions: checks passed on them less on three or more sets
    of turnbench new_questions"""
    reach: bool = False
    """show at which level a model passes half of the questions, of those that have a level"""
    trend: bool = False
    """show models whose names differ in a number, such as checkpoints, as a curve: where the peak
    is, and how much worse than the best the last step is at least"""
    changes: bool = False
    """show which verdicts changed from one model to the other (--model-list OLD NEW), or since
    another run (--compare-with), and how many noise alone would change"""
    compare_with: Annotated[Path | None, Flag("DIR", pages=("changes",))] = None
    """with --changes: the other run: its data folder, or a file of judgments"""
    output: Output = Output()
    board: Board = Board()
    plan: Annotated[Path | None, Flag("FILE", pages=("results",))] = None
    """a plan of turnbench plan: what of it was kept and what was not"""
    report: Annotated[Path | None, Flag("FILE")] = None
    """also write one HTML page with tables and charts"""
    charts: Annotated[Path | None, Flag("DIR")] = None
    """also write the charts as SVG files"""


class Plan(Command, kw_only=True, frozen=True):
    """Write down what is to be compared before it is judged; no model is called.

    turnbench plan --model A B --judge-model gpt-4.1 --margin 0.3 --out plan.toml
    show_result --plan plan.toml
    """

    bench: BenchName = BenchName()
    slice: ShownSlice = ShownSlice()
    judge_model: Annotated[Names, Flag("NAME")] = ()
    """judges that will decide"""
    mode: Mode | None = None
    """grade single answers, compare each with a baseline, or compare all pairs (default: the judge
    set's, else single)"""
    judge_set: Annotated[str | None, Flag("SET")] = None
    """the judge set (default: the benchmark's, else mt_bench)"""
    baseline_model: Annotated[str | None, Flag("NAME")] = None
    """the baseline of pairwise-baseline (default: the judge set's)"""
    samples: Annotated[Count, Flag("K")] = 1
    """how often each match will be judged"""
    margin: Annotated[Positive | None, Flag("X")] = None
    """by how much a model may be worse and still count as not worse"""
    out: Annotated[Path | None, Flag("FILE")] = None
    """where to write the plan; nothing is overwritten (default: print it)"""


class RunBench(Command, kw_only=True, frozen=True):
    """Answer, judge and show in one go: every answer is judged as soon as it exists.

    run_bench --model builtin/reference builtin/eliza --judge-model builtin/overlap
    run_bench --model gpt-4.1-mini claude-opus-4-5 --judge-model gpt-4.1 --mode pairwise-all
    run_bench --config config.json --import colossalai targets.json a.json --judge-model gpt-4.1
    """

    models: Models = Models()
    import_: Annotated[Names, Flag("FORMAT [FILE ...]")] = ()
    """existing answers to import first, as import_data does: a format and its files"""
    config: Annotated[Path | None, Flag("FILE")] = None
    """a configuration of ColossalAI's chat evaluation (JSON or TOML): criteria and metrics"""
    run_code: bool = False
    """let checks run code that models wrote, in bubblewrap"""
    levels: bool = False
    """ask computed questions that get harder until half of them are failed; no judge"""
    waves: Annotated[Count, Flag("N")] = 4
    """with --levels: how many times each template is asked"""
    judging: Judging = Judging()
    bench: BenchName = BenchName()
    slice: Slice = Slice()
    history: History = History()
    user: PlayedUser = PlayedUser()
    sampling: AnswerSampling = AnswerSampling()
    endpoint: Address = Address()
    judge_sampling: Annotated[JudgeSampling, Prefix("judge_")] = JudgeSampling()
    judge: Annotated[Address, Prefix("judge_")] = Address()
    metrics: MetricOptions = MetricOptions()
    limits: Limits = Limits()
    output: Output = Output()
    board: Board = Board()
    gate: Gate = Gate()


class AutoChecks(Command, kw_only=True, frozen=True):
    """Check the answers for what a program can check; no judge, no key.

    turnbench auto_checks --bench-name ifeval
    turnbench auto_checks --model-list my-model --first-n 10
    """

    bench: BenchName = BenchName()
    slice: Slice = Slice()
    run_code: bool = False
    """let checks run code that models wrote, in bubblewrap; without it they stay undecided"""
    redo: bool = False
    """check again what is checked; old rows are kept aside"""


class AutoMetrics(Command, kw_only=True, frozen=True):
    """Compute metrics that need no judge.

    turnbench auto_metrics
    turnbench auto_metrics --metrics bleu rouge --variant colossalai --bench-name chat_zh
    turnbench auto_metrics --metrics bert_score --bert-model ./roberta-large
    """

    options: MetricOptions = MetricOptions()
    config: Annotated[Path | None, Flag("FILE")] = None
    """compute the metrics that a configuration of ColossalAI's chat evaluation names"""
    reference: Annotated[str | None, Flag("NAME")] = None
    """whose answers are the references: a reference file or a model"""
    bench: BenchName = BenchName()
    slice: Slice = Slice()
    device: Annotated[str | None, Flag("NAME")] = None
    """device for the models of metrics: cpu, cuda:0, ... (default: a GPU if any)"""
    batch_size: Annotated[Count, Flag("N")] = 8
    """texts in one batch of a model"""
    redo: bool = False
    """measure again what is measured; old rows are kept aside"""


class JudgeReport(Command, kw_only=True, frozen=True):
    """Show how good a judge is: one report for each question about it.

    turnbench judge_report position --list
    turnbench judge_report agreement --votes human.jsonl --exclude 'author*'
    turnbench judge_report judges --votes human.jsonl --table judges.csv
    """

    report: Annotated[str, Flag("REPORT", positional=True)] = ""
    """position: verdicts that change with the order; agreement: with people and other judges;
    length: the longer answer; repeat: the same judge again; reference: wrong answers without one;
    attack: answers that tell it what to say; corrected: win rates by votes and verdicts; checks:
    what a program finds; judges: which to choose; worth: how many independent judges a panel is;
    wording: paraphrases of the prompt"""
    select: Select = Select()
    bench: BenchName = BenchName()
    slice: Slice = Slice()
    list: Annotated[bool, Flag(pages=("position", "agreement", "length"))] = False
    """also list the items: flipped pairs, disagreements, longer answers that lost"""
    details: Annotated[bool, Flag(pages=("agreement",))] = False
    """agreement: a row for each turn and category, and with ties as a third verdict"""
    without: Annotated[str, Flag("SET", pages=("reference",))] = "mt_bench_unaided"
    """reference: the judge set that shows no reference"""
    threshold: Annotated[float | None, Flag("GRADE", pages=("reference",))] = None
    """reference: the least grade of a right answer (default: the upper third of the scale)"""
    top: Annotated[float | None, Flag("GRADE", pages=("checks",))] = None
    """checks: the least top grade (default: 9 of 10)"""
    loose: Annotated[bool, Flag(pages=("checks",))] = False
    """checks: by their loose reading"""
    compatible: Annotated[bool, Flag(pages=("judges",))] = False
    """judges: count and name the columns as alpaca_eval does"""
    table: Annotated[Path | None, Flag("FILE", pages=("judges",))] = None
    """judges: a CSV file to which these judges are added"""
    overwrite: Annotated[bool, Flag(pages=("judges",))] = False
    """judges: replace judges that the table has"""
    attack_file: Annotated[Path | None, Flag("FILE", pages=("attack",))] = None
    """attack: attacks of your own, as TOML"""
    weak_model: Annotated[str, Flag("NAME", pages=("attack",))] = "builtin/eliza"
    """attack: whose answers are attacked"""
    strong_model: Annotated[str, Flag("NAME", pages=("attack",))] = "builtin/reference"
    """attack: in pairs, whose answers they are compared with"""
    sampling: Annotated[JudgeSampling, Flag(pages=("attack",))] = JudgeSampling()
    endpoint: Annotated[Address, Flag(pages=("attack",))] = Address()
    limits: Annotated[Limits, Flag(pages=("attack",))] = Limits()
    output: Output = Output()


class Status(Command, kw_only=True, frozen=True):
    """Show what is answered, judged and missing, and what the missing part would cost.

    turnbench status
    turnbench status --bench-name mt_bench_zh --format json
    turnbench status --files
    """

    bench: BenchName = BenchName()
    files: bool = False
    """list each file of answers and judgments: rows, judge, date, sampling, cost"""
    format: Literal["text", "json"] = "text"
    """how to print"""


class CheckBench(Command, kw_only=True, frozen=True):
    """Check a benchmark's files before any model is called.

    turnbench check_bench mt_bench
    turnbench check_bench data/our_questions
    """

    bench_name: Annotated[str, Flag("DIR_OR_NAME", ("--bench-name",), positional=True)] = "mt_bench"
    """a folder that holds question.jsonl, or the name of a benchmark"""
    data_dir: Annotated[str, Flag("DIR")] = "data"
    """data folder in which a name is looked for"""
    format: Literal["text", "json"] = "text"
    """how to print"""


class ShowJudgeSet(Command, kw_only=True, frozen=True):
    """List the judge sets, show what is in one, and the exact messages that it would send.

    turnbench show_judge_set
    turnbench show_judge_set mt_bench --question 1031 --turns 2
    """

    which: Annotated[str | None, Flag("SET", ("--judge-set",), positional=True)] = None
    """a judge set as gen_judgment takes it (default: list all)"""
    question: Annotated[str | None, Flag("ID")] = None
    """print what would be sent about this question"""
    turns: Annotated[tuple[Count, ...], Flag("N")] = ()
    """the turns to show (default: all)"""
    model_list: Annotated[Names, Flag("NAME", ("--model",))] = ()
    """the model whose answer is shown, or the two that are compared (default: placeholders)"""
    mode: Mode | None = None
    """show one answer or two (default: all modes of the set)"""
    criterion: Annotated[Names, Flag("NAME")] = ()
    """the criteria to show"""
    reference: Annotated[str | None, Flag("NAME")] = None
    """whose answers are the references"""
    bench: BenchName = BenchName()
    format: Literal["text", "json"] = "text"
    """how to print"""


class FetchBench(Command, kw_only=True, frozen=True):
    """Download a published benchmark from its upstream and verify it.

    turnbench fetch_bench --list
    turnbench fetch_bench mt_bench_lmsys --from /media/stick/FastChat
    """

    name: Annotated[str | None, Flag("NAME", ("--bench-name",), positional=True)] = None
    """one of the names that --list shows, or hf://datasets/OWNER/NAME@REVISION/question.jsonl, on
    the Hugging Face Hub; becomes a folder in the data folder"""
    list: bool = False
    """list what can be fetched, with licence and size"""
    data_dir: Annotated[str, Flag("DIR")] = "data"
    """data folder, where the new folder goes"""
    from_: Annotated[str | None, Flag("DIR_OR_URL")] = None
    """a folder, a mirror or hf://datasets/OWNER/NAME@REVISION that has the files (default: the
    upstream)"""
    yes: Annotated[bool, Flag(aliases=("-y",))] = False
    """do not ask to accept terms of use"""


class ImportData(Command, kw_only=True, frozen=True):
    """Make a benchmark from other projects' data.

    turnbench import_data feedback_collection feedback.json --bench-name feedback --first-n 1000
    turnbench import_data alpaca_eval outputs.json --bench-name alpaca_eval --model-id my-model
    turnbench import_data votes ballots.json --bench-name mt_bench
    """

    imports: Annotated[Names, Flag("FORMAT FILE", positional=True)] = ()
    """format of the data: alpaca_eval, arena_hard, battles, colossalai, feedback_collection,
    ifeval, inspect, judge_pairs, lm_eval, messages, mt_bench_101, preference_collection,
    short_facts or votes; and its files: JSON arrays, JSON Lines, .csv, .tsv, .parquet (extra
    [parquet]) or .eval; or hf://datasets/OWNER/NAME@REVISION/FILE on the Hugging Face Hub. The
    first of several defines the questions"""
    model_id: Annotated[Names, Flag("NAME")] = ()
    """models of the files, or of all but the first, in order (default: as the records say, else the
    file's name)"""
    first_n: Annotated[Count | None, Flag("N")] = None
    """only the first N records of each file"""
    keep_input: bool = False
    """keep a record's assembled judge input as the question's context"""
    language: Annotated[str | None, Flag("CODE")] = None
    """language of the questions, for bench.toml (default: en)"""
    bench: BenchName = BenchName()
    back: Annotated[str | None, Flag("FORMAT")] = None
    """the same as turnbench export FORMAT, which takes the flags below"""
    judge_model: Annotated[Names, Flag("NAME")] = ()
    """whose judgments; for imported annotations, who made them"""
    judge_set: Annotated[str | None, Flag("SET")] = None
    """judge set of the judgments (default: the only one)"""
    model_list: Annotated[Names, Flag("NAME")] = ()
    """with --back: only these models"""
    output: Annotated[Path | None, Flag("FILE")] = None
    """with --back: where to write"""


class Export(Command, kw_only=True, frozen=True):
    """Write a benchmark's results in another project's form.

    turnbench export alpaca_eval --bench-name alpaca_eval --judge-model gpt-4.1
    turnbench export inspect --output logs
    """

    format: Annotated[str, Flag("FORMAT", positional=True)] = ""
    """fastchat: its data folder, for its own scripts; alpaca_eval: annotations, a file for each
    model; feedback_collection: grades as training records; inspect: a log for each model;
    every_eval_ever: numbers and verdicts for its datastore; card: a data set's card for the
    Hugging Face Hub, and entries for models' repositories"""
    bench: BenchName = BenchName()
    judge_model: Annotated[Names, Flag("NAME")] = ()
    """whose judgments (default: of all judges, or the only one)"""
    judge_set: Annotated[str | None, Flag("SET")] = None
    """judge set of the judgments (default: the only one)"""
    baseline_model: Annotated[str | None, Flag("NAME")] = None
    """only pairs with this model (default: of the model in all pairs, else all pairs)"""
    model_list: Annotated[Names, Flag("NAME", ("--model",))] = ()
    """only these models"""
    output: Annotated[Path | None, Flag("DIR_OR_FILE")] = None
    """where to write; nothing is overwritten (default: BENCH-FORMAT in the working folder)"""


class Viewer(Command, kw_only=True, frozen=True):
    """Show answers, verdicts and results in a browser.

    viewer
    viewer --data-dir demo --bench-name mt_bench
    viewer --export site
    """

    bench_name: Annotated[Names, Flag("NAME")] = ()
    """benchmarks to show (default: all in the data folder)"""
    data_dir: Annotated[str, Flag("DIR")] = "data"
    """data folder, where answers and judgments are"""
    judge_model: Annotated[Names, Flag("NAME")] = ()
    """whose verdicts are shown first; several are shown as a panel (default: all)"""
    compare_with: Annotated[Path | None, Flag("DIR")] = None
    """another run's data folder: what changed since, per model and per verdict"""
    reasoning: ReasoningShown = "split"
    """reasoning in other tools' answers (<think>…</think>): apart from the text, or part of it"""
    read_only: bool = False
    """hide the tab Vote; no vote and no note is written"""
    export: Annotated[Path | None, Flag("DIR")] = None
    """write static pages to this folder instead of serving"""
    ballot: Annotated[Names, Flag("FILE.html N")] = ()
    """write one page with N blind pairs to vote on, to send by mail"""
    host: Annotated[str, Flag("ADDRESS")] = "127.0.0.1"
    """address to listen on; 0.0.0.0: reachable from all networks of this machine"""
    port: Annotated[Annotated[int, Meta(ge=0, le=65535)] | None, Flag("N")] = None
    """port to listen on; 0: any (default: the first free one from 7860)"""
    allow_host: Annotated[Names, Flag("NAME")] = ()
    """host names under which browsers may reach the viewer, such as a proxy's"""
    auth_file: Annotated[Path | None, Flag("FILE")] = None
    """file with name:password of those who may see the page, one per line"""
    share: bool = False
    """say how to reach the page from elsewhere"""


class NewQuestions(Command, kw_only=True, frozen=True):
    """Make the computed questions of mt_bench anew: other numbers, names and texts, same skills.

    turnbench new_questions --seed 7 --out data/renewed_7
    turnbench new_questions --seed 7 --level 9 --out data/hard_7
    gen_answer --bench-name renewed_7 --model builtin/reference
    """

    seed: Annotated[FromZero, Flag("N")]
    """equal seeds give equal questions; the shipped set has seed 0"""
    level: Annotated[Level | None, Flag("N")] = None
    """how hard, from 1 to 10; without it, each question as hard as that of mt_bench"""
    template: Annotated[tuple[str, ...], Flag("NAME_OR_FILE")] = ()
    """templates by name, or as files with make(rng, level); default: all of mt_bench"""
    out: Annotated[str, Flag("DIR")]
    """folder of the new benchmark; its name is the benchmark's"""


class Prove(Command, kw_only=True, frozen=True):
    """Prove a question template: at every level right replies pass its checks and wrong ones fail.

    turnbench prove drawer
    turnbench prove data/our_questions/returns.py --levels 1 5 10 --seeds 20
    """

    which: Annotated[str, Flag("NAME_OR_FILE", ("--template",), positional=True)]
    """a file with make(rng, level), or the name of a template"""
    levels: Annotated[tuple[Level, ...], Flag("N")] = (1, 3, 5, 7, 9)
    """levels to draw questions of"""
    seeds: Annotated[Count, Flag("N")] = 5
    """how many questions of each level"""


class Init(Command, kw_only=True, frozen=True):
    """Write a commented turnbench.toml into this folder.

    turnbench init
    """


class Project(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """`turnbench.toml` in the working folder: what the flags of every command would say again."""

    bench_name: str | None = None
    data_dir: str | None = None
    judge_model: tuple[str, ...] | str | None = None
    judge_set: str | None = None
    model_list: tuple[str, ...] | None = None
    baseline_model: str | None = None
    models: dict[str, dict[str, Any]] = {}
    """Endpoints by name: address, key variable, price, limits, sampling."""


ON_PATH = ("gen_answer", "gen_judgment", "show_result", "run_bench", "viewer")
"""The commands that are programs of their own; all others are `turnbench NAME`."""

# Records from values


class Field(Struct, frozen=True):
    """One option of a record: where it is in it, and what it may be."""

    name: str
    """As users write it, such as `judge_base_url`."""
    path: tuple[str, ...]
    hint: Any
    """The type with its bounds."""
    kind: Any
    """The type alone."""
    flag: Flag
    default: Any
    owner: type
    """The record or group in whose source its text stands."""

    @property
    def many(self) -> bool:
        """Whether it takes several values."""
        return get_origin(self.kind) is tuple


def record_of(command: str) -> type[Struct]:
    """Return the options record of a command."""
    record: type[Struct] = globals()["".join(map(str.title, command.split("_")))]
    return record


@functools.cache
def fields(
    record: type[Struct],
    prefix: str = "",
    path: tuple[str, ...] = (),
    pages: tuple[str, ...] = (),
) -> Sequence[Field]:
    """Return the options of a record in its order, those of its groups included."""
    hints = get_type_hints(record, include_extras=True)
    options: list[Field] = []
    for info in msgspec.structs.fields(record):
        if info.name == "typed":
            continue
        hint = hints[info.name]
        kind, *extras = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        place = (*path, info.name)
        if isinstance(kind, type) and issubclass(kind, Struct):
            added = next((e.text for e in extras if isinstance(e, Prefix)), "")
            of_pages = next((e.pages for e in extras if isinstance(e, Flag)), pages)
            options += fields(kind, prefix + added, place, of_pages)
            continue
        flag = next((e for e in extras if isinstance(e, Flag)), Flag())
        if prefix:
            flag = msgspec.structs.replace(flag, aliases=())
        if pages:
            flag = msgspec.structs.replace(flag, pages=pages)
        name = prefix + info.name
        options.append(Field(name, place, hint, kind, flag, info.default, record))
    return options


def build(record: type[T], values: Mapping[str, Any], project: Project | None = None) -> T:
    """Return a record from flat values, such as Python keywords; a text may stand for a list.

    What `values` leaves out is taken from `project`, then from the defaults.

    Raises:
        UsageError: a name is unknown, a value is not what it may be, or a required one is missing.
    """
    options = {field.name: field for field in fields(record)}
    for name in values:
        if name not in options:
            raise UsageError(f"there is no option {name!r}{near(name, options, every=False)}")
    typed = [name for name, value in values.items() if value not in (None, (), [])]
    tree: dict[str, Any] = {"typed": typed} if issubclass(record, Command) else {}
    for name, field in options.items():
        value = values.get(name)
        if value in (None, (), []):
            value = getattr(project, name, None) or None
        if value is None:
            if field.default is msgspec.NODEFAULT:
                raise UsageError(f"{option(name)} is required")
            continue
        if field.many and not isinstance(value, list | tuple):
            value = (value,)
        group = tree
        for part in field.path[:-1]:
            group = group.setdefault(part, {})
        group[field.path[-1]] = _converted(field, value)
    return msgspec.convert(tree, record, dec_hook=_path)


def command_line(record: Struct) -> str:
    """Return the command that a record is of, with every flag that is not its default.

    >>> command_line(GenJudgment(judging=Judging(judge_model=("gpt-4.1",), share=0.1)))
    'gen_judgment --judge-model gpt-4.1 --share 0.1'
    """
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", type(record).__name__).lower()
    words = [name] if name in ON_PATH else ["turnbench", name]
    for field in fields(type(record)):
        value: Any = record
        for part in field.path:
            value = getattr(value, part)
        if value == field.default:
            continue
        if not field.flag.positional:
            words.append(option(field.name))
        if field.kind is not bool:
            words += map(_typed, value if field.many else [value])
    return shlex.join(words)


def _typed(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def option(name: str) -> str:
    """Return a field's name as its flag.

    >>> option("first_n"), option("from_")
    ('--first-n', '--from')
    """
    return f"--{name.rstrip('_').replace('_', '-')}"


def value_of(record: Struct, name: str) -> Any:
    """Return the value of an option of a record."""
    path = next(field.path for field in fields(type(record)) if field.name == name)
    return functools.reduce(getattr, path, record)


def check_flags(record: Struct, page: str, words: Mapping[str, str] = {}) -> None:
    """Refuse the flags that are for other pages of a command than this one.

    Args:
        record: the command's options.
        page: the page that is shown.
        words: how pages are called, if not by their names.

    Raises:
        UsageError: one of the flags has no meaning on this page.
    """
    for field in fields(type(record)):
        pages = field.flag.pages
        if not pages or page in pages or value_of(record, field.name) == field.default:
            continue
        if page in words:
            raise UsageError(f"{option(field.name)} and {words[page]} exclude each other")
        places = " or ".join(words.get(name, name) for name in pages)
        raise UsageError(f"{option(field.name)} is for {places}")


def _converted(field: Field, value: Any) -> Any:
    try:
        value = msgspec.to_builtins(value, enc_hook=str)  # options that are texts take paths too
        return msgspec.convert(value, field.hint, strict=False, dec_hook=_path)
    except msgspec.ValidationError:
        typed = " ".join(map(str, value)) if field.many else value
        text = f"{option(field.name)} must be {describe(field.hint)}, this is {typed!r}"
        raise UsageError(text) from None


def describe(kind: Any) -> str:
    """Return in words what a value of a type may be.

    >>> describe(Annotated[int, Meta(ge=1)] | None)
    'a whole number of at least 1'
    """
    kind, *extras = get_args(kind) if get_origin(kind) is Annotated else (kind,)
    parts = [part for part in get_args(kind) if part is not type(None)]
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(str, parts))}" if len(parts) > 1 else str(parts[0])
    if get_origin(kind) is tuple:
        item = describe(parts[0])
        return item if item.startswith("one of") else f"one or more of: {item}"
    if parts:
        return " or ".join(describe(part) for part in parts)
    words = {int: "a whole number", float: "a number", bool: "true or false"}.get(kind, "a text")
    limits = [
        f"{text} {getattr(bounds, name)}"
        for bounds in extras
        if isinstance(bounds, Meta)
        for name, text in (("ge", "of at least"), ("gt", "above"), ("le", "of at most"))
        if getattr(bounds, name) is not None
    ]
    return " ".join([words, " and ".join(limits)]).strip()


def _path(kind: type, value: Any) -> Any:
    if issubclass(kind, pathlib.PurePath):
        return pathlib.Path(value)
    raise NotImplementedError(kind)

"""The options of answering, and the sampling that they give for one model and question.

The request is stored in each answer's row unchanged, and as a hash: an answer is current as long as the hash is.
"""

import pathlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from harness.old.bench import Bench
from harness.old.bounds import COUNT, FACTOR, SAMPLES, SECONDS, SHARE_ABOVE_0, TEMPERATURE
from harness.old.chat import Endpoint
from harness.old.chat.endpoint import WEIGHTS, Weights
from harness.old.chat.parameters import sampling_of
from harness.old.records import Question, Sampling
from harness.old.running.jobs import RETRY_CUT
from harness.old.written import check_fields

MAX_TOKENS = 4096
"""The most tokens of a reply if neither the options nor models.toml set it."""


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """How answers are made."""

    num_choices: Annotated[int, SAMPLES] = 1
    """Conversations for each question."""
    temperature: Annotated[float, TEMPERATURE] | None = None
    """Forced for every category; None samples by category as MT-Bench does."""
    max_tokens: Annotated[int, COUNT] | None = None
    """The most tokens of one reply, reasoning included; None: as models.toml says, else `MAX_TOKENS`."""
    top_p: Annotated[float, SHARE_ABOVE_0] | None = None
    seed: int | None = None
    """Sent to endpoints that take one; choice k is sampled with seed + k."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Further parameters of the request by name, as in models.toml: `reasoning_effort`, `top_k`, `extra_body`, …"""
    retry_cut: Annotated[float, FACTOR] = RETRY_CUT
    """The factor on the token limit with which a reply that was cut off at it is requested again; 1: never."""
    system: str | None = None
    """System prompt; None takes the benchmark's, if it has one; an empty text is none at all."""
    base_url: str | None = None
    api_key_env: str | None = None
    conv_template: str | None = None
    model_path: str | None = None
    """Local weights for the one model that is asked: a folder, or a repository of the Hugging Face hub."""
    weights: Weights = WEIGHTS
    """How they are loaded."""
    timeout: Annotated[float, SECONDS] | None = None
    """Seconds that one call may take."""
    history: str | None = None
    """Whose earlier turns each turn is answered after: `reference`, who wrote references, or an answered model; None
    (or `own`): the model's own."""
    user: str | None = None
    """The chat model that plays the user where questions have one; needed there."""
    user_samples: Annotated[int, SAMPLES] = 1
    """Conversations of the user about each such question, each with its own seed."""
    user_seed: int = 0
    """Of the first of them; the same for every model that answers."""
    user_turns: Annotated[int, COUNT] | None = None
    """The most turns of such a conversation, if fewer than the question allows."""
    user_prompt: pathlib.Path | str | None = None
    """The file with the user's prompt; None: the shipped one."""
    user_base_url: str | None = None
    user_api_key_env: str | None = None
    models_file: pathlib.Path | str | None = None
    """The file that names endpoints; None means ./models.toml, if it exists."""
    key_needed: bool = True
    """Whether a key that is missing is an error while planning already; an estimate needs none."""

    def __post_init__(self) -> None:
        """Raise `UsageError` for a number that cannot be."""
        check_fields(self)

    def choices_of(self, question: Question) -> int:
        """Return how many conversations are held about a question."""
        return self.num_choices * (1 if question.user is None else self.user_samples)


def asked_sampling(endpoint: Endpoint, bench: Bench, options: AnswerOptions, question: Question) -> Sampling:
    """Return the requested sampling.

    The options take precedence, then the benchmark's own temperature for the category, then models.toml, and
    finally MT-Bench's temperature by category.
    """
    said = Sampling(options.temperature, options.max_tokens, options.top_p, options.seed)
    said = said.before(sampling_of(options.params)) if options.params else said
    usual = endpoint.sampling
    own = bench.settings.temperatures.get(question.category)
    temperature = next((t for t in (said.temperature, own, usual.temperature) if t is not None), None)
    if temperature is None:
        temperature = bench.temperature(question.category)
    asked = replace(said, temperature=float(temperature)).before(usual)
    top_p = None if asked.top_p is None else float(asked.top_p)
    return replace(asked, max_tokens=asked.max_tokens or MAX_TOKENS, top_p=top_p)


def system_prompt(bench: Bench, options: AnswerOptions) -> str | None:
    """Return the system prompt that answers are made with, if any."""
    return (bench.settings.system_prompt if options.system is None else options.system) or None


def reply_source(endpoint: Endpoint, bench: Bench, question: Question) -> tuple[str, ...] | None:
    """Return the reference answer that a built-in model may reply with."""
    return bench.sole_reference.get(question.question_id) if endpoint.provider == "builtin" else None

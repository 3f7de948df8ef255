"""The options of judging: the flags of `gen_judgment`, and Python's keywords of the same names."""

import pathlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from harness.old.bounds import COUNT, FACTOR, SAMPLES, SECONDS, TEMPERATURE, TURNS
from harness.old.running.jobs import RETRY_CUT
from harness.old.written import check_fields

NO_REFERENCE = "none"
"""In place of the references' author: judges see neither references nor notes."""


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """How judgments are made."""

    judge_set: str = "mt_bench"
    baseline: str | None = None
    turns: Annotated[tuple[int, ...], TURNS] | None = None
    """The turns to judge; None: every turn."""
    reference: str | None = None
    """Whose answers are the references: a file of `reference_answer/` or any answered model, or `NO_REFERENCE`."""
    temperature: Annotated[float, TEMPERATURE] | None = None
    """Replaces the judge set's."""
    max_tokens: Annotated[int, COUNT] | None = None
    """Replaces the judge set's."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Further parameters of the request by name, as in models.toml: `reasoning_effort`, `top_k`, `extra_body`, …"""
    base_url: str | None = None
    api_key_env: str | None = None
    timeout: Annotated[float, SECONDS] | None = None
    """Seconds that one call may take."""
    models_file: pathlib.Path | str | None = None
    """The file that names endpoints; None means ./models.toml, if it exists."""
    key_needed: bool = True
    """Whether a key that is missing is an error while planning already; an estimate needs none."""
    skip_missing: bool = False
    criteria: tuple[str, ...] = ()
    """The judge set's criteria to judge by; empty: its usual ones."""
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The judge set's criteria to judge each category by, and no other category; empty: as the set says."""
    samples: Annotated[int, SAMPLES] = 1
    """How often each match is judged, each time for itself; the first sample is number 0."""
    retry_cut: Annotated[float, FACTOR] = RETRY_CUT
    """The factor on the token limit with which a reply that was cut off at it is requested again; 1: never."""
    every_choice: bool = False
    """Whether every choice of an answer is judged, not only the first."""
    votes: tuple[pathlib.Path | str, ...] = ()
    """Files of votes: only pairs with votes are judged; empty: all."""
    structured: bool = True
    """Whether judges are asked to follow a template's JSON schema, where it has one and the provider can see to it."""

    def __post_init__(self) -> None:
        """Raise `UsageError` for a number that cannot be."""
        check_fields(self)

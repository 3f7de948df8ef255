"""Signs that a server is not set up as the user thinks, which no single reply shows.

    many replies hold template marks      a base model, or no chat template
    fewer prompt tokens than were sent    the server cuts prompts silently (Ollama's num_ctx)
    samples at a temperature are equal    the server decodes greedily, whatever it is asked for

Each is said once in a run.
"""

from dataclasses import dataclass, field

from harness.models import Endpoint
from harness.models.marks import MARKED
from harness.running.tokens import prompt_tokens
from harness.types import Reply, Request

FEWEST = 5
"""Replies with template marks before it is said."""
MARKED_SHARE = 0.2
"""The share of the replies that have them."""
CUT_CALLS = 3
"""Different prompts that are counted as one equal number of tokens, far below what was sent."""
CUT_SHARE = 0.6
LEAST_CONTEXT = 256
"""Tokens; no server has a smaller context, but some mocks count nothing."""
_USUAL_CHARACTERS = 5
"""Of a token, at most; with more the tokens are estimated."""


@dataclass(slots=True)
class Signs:
    """What was seen of one endpoint's replies."""

    endpoint: Endpoint
    replies: int = 0
    marked: int = 0
    alike: dict[int, set[int]] = field(default_factory=dict)
    """Long prompts, by the number of tokens that the server counts; a few of each."""
    cut: dict[int, float] = field(default_factory=dict)
    """For such a number, if it is far too small, about how many tokens one of the prompts has."""
    texts: dict[int, list[int]] = field(default_factory=dict)
    """The replies to each prompt that was asked at a temperature."""

    def see(self, request: Request, reply: Reply) -> None:
        """Take note of a reply."""
        if not self.endpoint.base_url:  # in this process, and no server
            return
        self.replies += 1
        self.marked += MARKED in (reply.detail.note or "")
        prompt = hash(tuple(message.content for message in request.messages))
        if request.sampling.temperature:
            self.texts.setdefault(prompt, []).append(hash(reply.text))
        counted = reply.detail.usage.prompt_tokens
        characters = sum(len(message.content) for message in request.messages)
        if counted and counted >= LEAST_CONTEXT and characters > _USUAL_CHARACTERS * counted:
            prompts = self.alike.setdefault(counted, set())
            if len(prompts) < CUT_CALLS and prompt not in prompts:
                prompts.add(prompt)
                if len(prompts) == CUT_CALLS:
                    sent = prompt_tokens(request.messages, self.endpoint.model)
                    if counted < CUT_SHARE * sent:
                        self.cut[counted] = sent

    def said(self) -> list[str]:
        """Return a line for each sign."""
        name, lines = self.endpoint.name, []
        if self.marked >= max(FEWEST, MARKED_SHARE * self.replies):
            lines.append(
                f"{self.marked:,} of {self.replies:,} replies of {name} hold template marks: "
                "is it a base model, or is its chat template missing?"
            )
        for counted, sent in list(self.cut.items())[:1]:
            lines.append(
                f"{name} counts {counted:,} tokens for prompts that differ, one of them of about "
                f"{sent:,.0f}: does the server cut prompts silently (as Ollama does at num_ctx)?"
            )
        several = [texts for texts in self.texts.values() if len(texts) > 1]
        if several and all(len(set(texts)) == 1 for texts in several):
            lines.append(
                f"all samples of {name} at a temperature above 0 are equal, for "
                f"{len(several)} prompts asked several times: does the server decode greedily, "
                "whatever temperature it is asked for?"
            )
        return lines

"""What a call costs: the only place that knows what a price is for, tokens of several kinds.

1,000 prompt tokens, 400 of them from the cache and 200 put into it, and 200 reply tokens, at $2.00, $0.20, $2.50
and $8.00 a million: 400 × 2.00 + 400 × 0.20 + 200 × 2.50 + 200 × 8.00 = 2,980 millionths of a dollar = $0.00298
"""

import json
from dataclasses import dataclass
from typing import Annotated

from harness.old.records import Reply, Request, Usage
from harness.old.written import Wanted

UNSTATED_REPLY = 4096
"""Tokens that a reply is taken to have at most where the request states no limit."""
MESSAGE_TOKENS = 16
"""Tokens that a message may take beyond its text: its role, and the marks around it."""
_MILLION = 1_000_000
_DOLLARS = Wanted("dollars for a million tokens, from 0", lambda dollars: dollars >= 0)


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens."""

    prompt: Annotated[float, _DOLLARS]
    completion: Annotated[float, _DOLLARS]
    cached: Annotated[float, _DOLLARS] | None = None
    """A million prompt tokens that came from the provider's cache; None: as any other."""
    written: Annotated[float, _DOLLARS] | None = None
    """A million prompt tokens that the provider put into its cache; None: as any other."""
    batch: Annotated[float, Wanted("a share from 0 to 1", lambda share: 0 <= share <= 1)] = 1.0
    """The share of the price that a batch costs."""

    def cost(self, reply: Reply) -> float | None:
        """Return the dollars that a reply cost; None if the provider did not count its tokens."""
        usage = reply.usage
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        cached = min(usage.cached_tokens or 0, usage.prompt_tokens)
        written = min(usage.written_tokens or 0, usage.prompt_tokens - cached)
        dollars = (usage.prompt_tokens - cached - written) * self.prompt
        dollars += cached * (self.prompt if self.cached is None else self.cached)
        dollars += written * (self.prompt if self.written is None else self.written)
        dollars += usage.completion_tokens * self.completion
        return dollars / _MILLION * (self.batch if reply.batch else 1.0)

    def most(self, request: Request, *, batch: bool) -> float:
        """Return the most dollars that a call can cost."""
        dearest = max(self.prompt, self.cached or 0.0, self.written or 0.0)
        price = Price(dearest, self.completion, batch=self.batch)
        cost = price.cost(Reply("", usage=most_tokens(request), batch=batch))
        assert cost is not None
        return cost


def most_tokens(request: Request) -> Usage:
    """Return the most tokens that a call can take.

    A token is at least one byte of UTF-8, so a prompt has no more tokens than bytes; the reply's limit is the
    request's own, or `UNSTATED_REPLY`.
    """
    texts = [message.content for message in request.messages]
    if request.schema is not None:
        texts.append(json.dumps(request.schema))
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    limit = request.sampling.max_tokens
    return Usage(size + MESSAGE_TOKENS * (len(texts) + 1), UNSTATED_REPLY if limit is None else limit)

"""What is read from a judge's text alone, for tests."""

from harness.old.judging.forms import VerdictForm
from harness.old.judging.parse import read_verdict
from harness.old.judgments.judgment import Parsed
from harness.old.records import Reply, Scale


def parse(text: str, verdict_format: str, scale: Scale = (1, 10)) -> Parsed:
    """Return the verdict of a judge's text, or none, with the reason for either."""
    return read_verdict(Reply(text), VerdictForm(verdict_format, scale=scale))

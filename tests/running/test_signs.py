"""What is said of a server whose replies, together, are not what they should be."""

from harness.models import Endpoint
from harness.models.marks import MARKED
from harness.running.signs import Signs
from harness.types import Detail, Message, Reply, Request, Sampling, Usage

HERE = Endpoint(name="m", provider="openai", model="m", base_url="http://localhost:8000/v1")


def see(signs: Signs, prompt: str, text: str, tokens: int | None = None, **more: object) -> None:
    temperature = more.get("temperature")
    sampling = Sampling(temperature=temperature if isinstance(temperature, float) else None)
    note = str(more.get("note", ""))
    detail = Detail(usage=Usage(prompt_tokens=tokens), note=note)
    signs.see(
        Request(messages=[Message("user", prompt)], sampling=sampling),
        Reply(text=text, detail=detail),
    )


def test_nothing_is_said_of_usual_replies() -> None:
    signs = Signs(HERE)
    for number in range(20):
        see(signs, f"Question {number}. " * 100, str(number), tokens=400, temperature=0.7)
        see(signs, f"Question {number}. " * 100, f"{number}!", tokens=400, temperature=0.7)
    assert signs.said() == []


def test_template_marks_in_many_replies_are_said() -> None:
    signs = Signs(HERE)
    for number in range(20):
        see(signs, str(number), "x", note=f"{MARKED} <|a|>" if number < 6 else "")
    assert signs.said()[0].startswith("6 of 20 replies of m hold template marks: is it a base")


def test_a_prompt_that_is_cut_silently_is_said() -> None:
    signs = Signs(HERE)
    for number in range(3):
        see(signs, f"{number} " + "some usual words of a prompt " * 1000, "x", tokens=2048)
    assert signs.said()[0].startswith("m counts 2,048 tokens for prompts that differ")


def test_equal_samples_at_a_temperature_are_said() -> None:
    signs = Signs(HERE)
    for number in range(3):
        for _ in range(2):
            see(signs, str(number), f"to {number}", temperature=0.7)
    assert signs.said()[0].startswith("all samples of m at a temperature above 0 are equal")

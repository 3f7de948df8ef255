import pytest

from harness.chat.builtin.arithmetic import worked_sums


@pytest.mark.parametrize(
    ("text", "worked"),
    [
        pytest.param("12 plus 7 times 3", ["12 + 7 * 3 = 33"], id="precedence"),
        pytest.param("What is (1,200 - 80) / 4?", ["(1,200 - 80) / 4 = 280"], id="brackets"),
        pytest.param("17% of 250", ["17% of 250 = 42.5"], id="per cent"),
        pytest.param("the sum of 3, 4 and 5", ["3 + 4 + 5 = 12"], id="sum"),
        pytest.param("10 divided by 3", ["10 / 3 is about 3.333333"], id="decimals that do not end"),
        pytest.param("12乘以3加4等于多少", ["12 * 3 + 4 = 40"], id="Chinese"),
        pytest.param("on 2024-05-01, 60-80 people, 24/7", [], id="dates and ranges are no sums"),
        pytest.param("7 / 0", [], id="division by zero"),
        pytest.param("9 ^ 9 ^ 9 ^ 9", [], id="too large"),
    ],
)
def test_spelled_out_sums_are_worked_exactly(text: str, worked: list[str]) -> None:
    assert [str(found) for found in worked_sums(text)] == worked

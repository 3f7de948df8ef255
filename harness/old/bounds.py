"""What numbers must be, each bound declared once: for files that people write, for flags and for Python's keywords.

first_n: Annotated[int, COUNT] | None
    gen_answer --first-n -1            error: argument --first-n: must be a whole number from 1, this is '-1'
gen_answer(..., first_n=-1)        UsageError: first_n must be a whole number from 1, this is -1
"""

import math

from harness.old.written import Wanted

COUNT = Wanted("a whole number from 1", lambda number: number >= 1)
SAMPLES = Wanted("a whole number from 1 to 10000", lambda number: 1 <= number <= 10_000)
SAMPLE = Wanted("a whole number from 0 to 9999", lambda number: 0 <= number < 10_000)
FROM_0 = Wanted("a whole number from 0", lambda number: number >= 0)
TEMPERATURE = Wanted("a number from 0 to 2", lambda number: 0 <= number <= 2)
PENALTY = Wanted("a number from -2 to 2", lambda number: -2 <= number <= 2)
FACTOR = Wanted("a number from 1 to 100", lambda number: 1 <= number <= 100)
SHARE = Wanted("a number from 0 to 1", lambda number: 0 <= number <= 1)
SHARE_ABOVE_0 = Wanted("a number above 0, at most 1", lambda number: 0 < number <= 1)
ABOVE_0 = Wanted("a number above 0", lambda number: 0 < number < math.inf)
SECONDS = Wanted("a number of seconds above 0", lambda number: 0 < number < math.inf)
CALLS_A_MINUTE = Wanted(
    "a number of calls in a minute, at least 0.0006 (one in a day)", lambda number: 0.0006 <= number < math.inf
)
TOKENS_A_MINUTE = Wanted("a number of tokens in a minute, at least 1", lambda number: 1 <= number < math.inf)
AT_ONCE = Wanted("a whole number from 1 to 100,000", lambda number: 1 <= number <= 100_000)
PROCESSES = Wanted("a whole number from 1 to 4,096", lambda number: 1 <= number <= 4096)
DOLLARS = Wanted("an amount of dollars from 0", lambda number: 0 <= number < math.inf)
TURNS = Wanted("whole numbers from 1, such as [1, 2]", lambda turns: bool(turns) and all(turn >= 1 for turn in turns))
GPUS = Wanted("a whole number from 1, or a share of a GPU", lambda number: 0 < number < 1 or number == number // 1 > 0)

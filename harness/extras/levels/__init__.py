"""`run_bench --levels`: questions that get harder until a model fails half of them.

    wave 1: each template at level 5, one more or less at random → 60% passed
    wave 2: each template at level 6, …                            as gen_answer and auto_checks do

The next wave's level follows the share that was passed in the wave before, never a template's own
answers: a staircase of each template would be off by one to three levels. The seed of a question
is of its template, level and wave, so that all models get the same ones. Questions are appended to
the benchmark; what is asked next follows from the files alone, so the same command goes on after a
kill.
"""

from harness.extras.levels.waves import Climbed, climb, next_level, run_levels

__all__ = ["Climbed", "climb", "next_level", "run_levels"]

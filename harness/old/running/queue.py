"""Which job is next: those of a model whose lanes have room, new ones before continued ones.

Starting new jobs first leaves the shorter tail: the second turns fill the end, when no first ones are left. Jobs are
drawn from the plan only when there is room for them. Those that others have made possible (judgings of answers) come
last for the same reason, but only a reserve of them waits: more begin at once. Where several models are called, those
that come up too early wait aside, but never more than `AHEAD`: a plan may be larger than memory.

Of jobs whose prompts share a prefix the first one leads: providers cache the prefix once they have replied
to it, and some of them charge for cache writes. The others wait for that reply as long as there is other
work; no slot stays idle for it. New leading jobs come before those that
follow, which so fill the end of the run, but not for longer than `FOLLOW_WITHIN`: a cache keeps a prefix for five
minutes.
"""

import math
import time
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from harness.old.running.jobs import Course
from harness.old.running.lanes import Pool, Work
from harness.old.running.watch import Tally

AHEAD = 2000
"""Jobs that may be drawn from the plan before there is room for them."""
RESERVE = 2
"""Jobs made possible by others, as a multiple of the room for calls, that are left to fill the end of the run."""
FOLLOW_WITHIN = 60.0
"""Seconds that a job may wait once the beginning of its prompt is in the provider's cache."""
AT_ONCE = 200
"""Jobs that may end without a call before the event loop gets its turn."""


class Queue:
    """The jobs of a run that are neither in flight nor waiting for their next try."""

    def __init__(self, source: Iterator[Course[Any]], pools: Mapping[str, Pool], tally: Tally) -> None:
        self._source = source
        self._pools = pools
        self._tally = tally
        self._released: deque[Course[Any]] = deque()
        """Jobs that waited for another's reply and can go on."""
        self._ahead = 0
        self.planned = True
        """Whether the plan may still have jobs."""
        self.wake_at = math.inf
        """The first moment at which a lane that is not ready now will be."""
        self._steps = 0

    @property
    def empty(self) -> bool:
        """Whether nothing is left to begin or to go on with."""
        return not (self.planned or self._released or any(pool.waiting for pool in self._pools.values()))

    @property
    def tired(self) -> bool:
        """Whether so many jobs have ended without a call that the event loop should have its turn."""
        return self._steps >= AT_ONCE

    def next(self, now: float) -> Work | None:
        """Return work for which a lane has room; None if there is none now."""
        self._steps = 0
        self.wake_at = math.inf
        while not self.tired:
            self._settle_released()
            found = self._next(now)
            if found is None or isinstance(found, Work):
                return found
            self._steps += 1
            if self._put_behind(found):
                continue
            if self._started(found):
                self._lead(found)
                if found.model == found.job.model:
                    return Work(found)
                self.go_on(Work(found))  # there was room at the job's model, not at the one that this request goes to
        return None

    def _started(self, course: Course[Any]) -> bool:
        """Begin a job, or continue it after it was parked; return whether a request is due that needs a call."""
        course.start()
        for lane in self._pools[course.job.model].lanes:
            lane.started(course)
        return self.advanced(course)

    def advanced(self, course: Course[Any]) -> bool:
        """Record a course's progress; return whether a request is due that needs a call."""
        if course.place > 0 or course.request is None:
            self._led(course)
        for other in course.released():
            if other.parked:
                self._released.append(other)
            else:
                self._pools[other.job.model].later.append(other)
        if course.request is None:
            self._tally.done += 1
            return False
        return not course.parked

    def failed(self, course: Course[Any], kind: str, message: str) -> None:
        """List a job that ends without a record."""
        self._led(course)
        self._tally.failures.append(course.fail(kind, message))
        for other in course.released():
            self._released.append(other)

    def _put_behind(self, course: Course[Any]) -> bool:
        """Return whether a job is put aside until the one with the same prefix has its first reply."""
        pool, beginning = self._pools[course.job.model], course.job.beginning
        if not beginning or course.follows or beginning not in pool.leading:
            return False
        course.follows = True
        pool.behind.setdefault(beginning, deque()).append(course)
        self._ahead += 1
        return True

    def _lead(self, course: Course[Any]) -> None:
        """Let a job that makes a call lead those whose prompts begin as its own does."""
        if course.job.beginning and course.place == 0 and not course.follows:
            self._pools[course.job.model].leading.setdefault(course.job.beginning, course)

    def _led(self, course: Course[Any]) -> None:
        """Continue the jobs that waited for a job, once it has a reply or has ended."""
        pool, beginning = self._pools[course.job.model], course.job.beginning
        if beginning and pool.leading.get(beginning) is course:
            del pool.leading[beginning]
            pool.led.extend((time.monotonic(), behind) for behind in pool.behind.pop(beginning, ()))

    def _following(self, pool: Pool) -> Course[Any]:
        """Return the job that has waited longest since the beginning of its prompt is in the cache."""
        self._ahead -= 1
        return pool.led.popleft()[1]

    def _impatient(self, pool: Pool) -> Course[Any] | None:
        """Return a job that waited for another's reply and need not: there is room, and nothing else to do."""
        beginning = next(iter(pool.behind), None)
        if beginning is None:
            return None
        course = pool.behind[beginning].popleft()
        if not pool.behind[beginning]:
            del pool.behind[beginning]
        self._ahead -= 1
        return course

    def go_on(self, work: Work) -> None:
        """Put back a job whose next request is due."""
        self._pools[work.course.model].again.append(work)

    def _next(self, now: float) -> Work | Course[Any] | None:
        """Return a job to continue, or one to begin."""
        ready = [pool for pool in self._pools.values() if pool.waiting and self._ready(pool, now)]
        for pool in ready:
            if pool.held is not None:
                work, pool.held = pool.held, None
                return work
        for pool in ready:
            if pool.led and not pool.doubted and pool.led[0][0] < time.monotonic() - FOLLOW_WITHIN:
                return self._following(pool)
        for pool in ready:
            if len(pool.later) > RESERVE * pool.room and not pool.doubted:
                return pool.later.popleft()
        for pool in ready:
            if pool.fresh and not pool.doubted:
                self._ahead -= 1
                return pool.fresh.popleft()
        course = self._drawn(now)
        if course is not None:
            return course
        for pool in ready:
            if pool.led and not pool.doubted:
                return self._following(pool)
        for pool in ready:
            if pool.again:
                return pool.again.popleft()
        for pool in ready:
            if pool.later and not pool.doubted:
                return pool.later.popleft()
        for pool in ready:
            if not pool.doubted and (impatient := self._impatient(pool)) is not None:
                return impatient
        return None

    def _drawn(self, now: float) -> Course[Any] | None:
        """Return the plan's next job for which there is room; earlier ones without room are put aside."""
        room = {name for name, pool in self._pools.items() if not pool.doubted and self._ready(pool, now)}
        while (room or not self._pools) and self.planned and self._ahead < AHEAD and not self.tired:
            course = next(self._source, None)
            if course is None:
                self.planned = False
                return None
            pool = self._pools[course.job.model]
            if pool.lost is not None:
                self._steps += 1
                self._bury(pool, course)
            elif course.job.model in room:
                return course
            else:
                self._ahead += 1
                pool.fresh.append(course)
        return None

    def _ready(self, pool: Pool, now: float) -> bool:
        """Return whether a call may begin, or remember when it may. A model that is lost is ready to fail its jobs."""
        if pool.lost is not None:
            self._drain(pool)
            return self.planned
        ready = pool.ready_at(now)
        if ready > now:
            self.wake_at = min(self.wake_at, ready)
        return ready <= now

    def _settle_released(self) -> None:
        while self._released:
            course = self._released.popleft()
            if self._started(course):
                self.go_on(Work(course))

    def _drain(self, pool: Pool) -> None:
        """Fail everything that waits for a model that is lost."""
        begun = [work.course for work in (pool.held, *pool.again) if work is not None]
        led = [*(course for _, course in pool.led), *(course for behind in pool.behind.values() for course in behind)]
        waiting = [*begun, *pool.fresh, *pool.later, *led]
        self._ahead -= len(pool.fresh) + len(led)
        pool.held = None
        for several in (pool.again, pool.fresh, pool.later, pool.leading, pool.led, pool.behind):
            several.clear()
        for course in waiting:
            self._bury(pool, course)

    def _bury(self, pool: Pool, course: Course[Any]) -> None:
        assert pool.lost is not None
        self.failed(course, pool.lost.kind, str(pool.lost))

"""Run one command and say what it used; a small process, because a child's peak memory begins at its parent's.

    python -I -S launch.py SECONDS_LIMIT SECONDS_TO_CTRL_C COMMAND ...

The last line on stderr is `exit code, seconds, processor seconds, ru_maxrss`.
"""

import os
import signal
import sys
import time


def main() -> None:
    """Run the command; it gets our streams."""
    limit, interrupt = (float(word) for word in sys.argv[1:3])
    begun = time.perf_counter()
    child = os.posix_spawn(sys.argv[3], sys.argv[3:], os.environ)
    interrupted = False

    def due(*_: object) -> None:
        nonlocal interrupted
        left = limit - (time.perf_counter() - begun)
        if interrupt and not interrupted and left > 0:
            interrupted = True
            os.kill(child, signal.SIGINT)
            signal.setitimer(signal.ITIMER_REAL, left)
        else:
            os.kill(child, signal.SIGKILL)

    signal.signal(signal.SIGALRM, due)
    signal.setitimer(signal.ITIMER_REAL, interrupt or limit)
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - begun
    signal.setitimer(signal.ITIMER_REAL, 0)
    code = os.waitstatus_to_exitcode(status)
    sys.stderr.write(f"\n{code} {seconds} {usage.ru_utime + usage.ru_stime} {usage.ru_maxrss}\n")


if __name__ == "__main__":
    main()

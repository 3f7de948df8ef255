"""Several gates against one stored run: Dunnett's test of many against one control.

    --series 20 FILE      each of 20 candidates is called worse beyond c standard errors, with
                          P(max |T_i| > c) = 5% over all 20 if none differs

T_i = (new_i − old) / se shares the control `old` with the others, so any two correlate by one half:

    P(max |T_i| ≤ c) = ∫∫ [Φ((c·s + z·√½) / √½) − Φ((−c·s + z·√½) / √½)]^N φ(z) f(s) dz ds

s being the estimated error over the true one, √(χ²/df). For 20 candidates and 79 degrees of freedom
c is 2.98, in place of 1.99: what is detectable grows by 1.35. With a margin nothing is corrected:
whether a candidate may replace the stored run is a decision of its own.

A look is a distinct candidate, by the hash of what was judged: the same one counts once, however
often it is looked at.

Source: Dunnett 1955, JASA 50:1096.
"""

import functools
import math
import pathlib
from collections.abc import Sequence

import msgspec
import numpy as np

from harness import store
from harness.errors import DataError, UsageError
from harness.results.estimate import LEVEL, Floats, t_tails
from harness.results.looks import NODES, WEIGHTS


class Series(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The gates that were made against one stored run."""

    series: int
    """How many are planned."""
    against: str
    """The stored run, by the hash of its file."""
    looks: list[str] = []
    """The candidates, by the hashes of what was judged of them."""


def read_series(path: pathlib.Path, planned: int, against: str) -> Series:
    """Return the series of a file; a new one where there is none.

    Raises:
        DataError: the file holds no series.
        UsageError: it is of another number, or of another stored run.
    """
    if not path.exists():
        return Series(series=planned, against=against)
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Series)
    except (msgspec.MsgspecError, OSError) as error:
        raise DataError(f"holds no series of gates: {error}", path) from None
    if found.series != planned:
        raise UsageError(f"--series {planned} {path}: it was planned for {found.series} gates")
    if found.against != against:
        raise UsageError(f"--series {planned} {path}: it is against another stored run")
    return found


def write_series(path: pathlib.Path, series: Series, look: str) -> None:
    """Add a candidate to a series' file, once."""
    looks = list(dict.fromkeys([*series.looks, look]))
    series = msgspec.structs.replace(series, looks=looks)
    store.write_file(path, msgspec.json.format(msgspec.json.encode(series), indent=1) + b"\n")


def series_beside(path: pathlib.Path, against: str) -> pathlib.Path | None:
    """Return a file beside a stored run that holds a series against it, if there is one."""
    for file in sorted(path.parent.glob("*.json")):
        try:
            if msgspec.json.decode(file.read_bytes(), type=Series).against == against:
                return file
        except (msgspec.MsgspecError, OSError):
            continue
    return None


def nominal_level(planned: int, df: int) -> float:
    """Return the level of one test so that all those of a series together have 5%."""
    return t_tails(dunnett(planned, df), df)


@functools.lru_cache(maxsize=256)
def dunnett(planned: int, df: int) -> float:
    """Return Dunnett's two-sided critical value at 5%, for equal groups.

    >>> round(dunnett(1, 79), 2), round(dunnett(5, 20), 2), round(dunnett(9, 60), 2)
    (1.99, 2.73, 2.77)
    """
    low, high = 0.0, 20.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if _outside(middle, planned, df) > LEVEL else (low, middle)
    return (low + high) / 2


def _outside(c: float, planned: int, df: int) -> float:
    """Return P(max |T_i| > c), by Gauss and Legendre over z in ±8 and s around 1."""
    z, z_weights = 8 * NODES, 8 * WEIGHTS
    width = min(1.0, 8 / math.sqrt(2 * df))
    low, high = max(0.0, 1 - width), 1 + (width if df > 30 else 3 * width)
    s = (high - low) / 2 * NODES + (high + low) / 2
    front = df / 2 * math.log(df / 2) - math.lgamma(df / 2) + math.log(2)
    density = np.exp(front + (df - 1) * np.log(s) - df * s * s / 2)
    s_weights = (high - low) / 2 * WEIGHTS * density
    upper = _normal(math.sqrt(2) * c * s[:, None] + z[None, :])
    lower = _normal(-math.sqrt(2) * c * s[:, None] + z[None, :])
    normal = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    inside = ((upper - lower) ** planned) @ (z_weights * normal)
    return 1 - float(s_weights @ inside)


def _normal(x: Floats) -> Floats:
    """Return the normal distribution function, by a table of it: numpy has none."""
    grid, values = _table()
    result: Floats = np.interp(x, grid, values)
    return result


@functools.cache
def _table() -> tuple[Floats, Floats]:
    grid = np.linspace(-9, 9, 18001)
    values: Sequence[float] = [math.erfc(-x / math.sqrt(2)) / 2 for x in grid.tolist()]
    return grid, np.array(values)

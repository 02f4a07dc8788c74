"""Progress display for long computations, in terminals and notebooks: a single line that is overwritten."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def reporter(verbose: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """Yields the function that displays progress, or None if ``verbose`` is false."""
    if not verbose:
        yield None
        return
    width = 0

    def show(stage: str, done: int, total: int) -> None:
        nonlocal width
        filled = int(30 * done / max(total, 1))
        line = f"{stage:8} [{'#' * filled}{' ' * (30 - filled)}] {done}/{total}"
        width = max(width, len(line))
        sys.stderr.write("\r" + line.ljust(width))
        sys.stderr.flush()

    try:
        yield show
    finally:
        if width:
            sys.stderr.write("\r" + " " * width + "\r")
            sys.stderr.flush()

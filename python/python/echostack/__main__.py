"""``python -m echostack MODEL [WORD ...]`` judges words with a saved machine or table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from . import EchostackError, __version__, load


def main(arguments: Sequence[str] | None = None) -> int:
    """Judges words, and returns 0 if all are accepted, 1 if some are not, and 2 if there is an error."""
    parser = argparse.ArgumentParser(
        prog="python -m echostack",
        description="Judges words with a saved machine or table, one verdict per line. "
        "The exit code is 1 if a word is not accepted. The program echostack can do more.",
    )
    parser.add_argument("model", help="file of a machine or a table")
    parser.add_argument("words", nargs="*", metavar="WORD", help="words to judge; if none are given, the lines of the input")
    parser.add_argument("--version", action="version", version=f"echostack {__version__}")
    given = parser.parse_args(arguments)
    try:
        recognizer = load(given.model)
        words = given.words or [line.rstrip("\n") for line in sys.stdin]
        verdicts = recognizer.check_all(words)
    except (EchostackError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for verdict in verdicts:
        print(verdict)
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())

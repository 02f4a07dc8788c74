"""Confirms or refuses a certificate of echostack, with Arb's ball arithmetic and without any code of the library.

Usage: python tools/recheck MODEL AUTOMATON CERTIFICATE, with the automaton as written by
`echostack certify --write-automaton`. Needs python-flint. The exit code is 0 if the certificate proves that the machine
does what the automaton does on every word, and 1 otherwise.
"""
import argparse
import json
import signal
import sys
import time
from pathlib import Path

from bounds import Bounds
from certificate import Automaton, Certificate
from model import Model, Refused


def confirm(model, automaton, certificate):
    """Checks a certificate, given the bytes of the three files, and returns a summary. Raises `Refused` if it fails."""
    model, automaton = Model(model), Automaton(json.loads(automaton))
    certificate = Certificate(json.loads(certificate), model, automaton)
    bounds = Bounds(model)
    least = min(bounds.least(*end, decisions) for end, decisions in certificate.decisions.items())
    count, completions = sum(map(len, certificate.decisions.values())), certificate.completions
    told = "completions: not in this certificate" if completions is None else f"{completions} completions"
    return f"{count} cells, smallest margin {float(least):.6g}; {told}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs=3, metavar="FILE", help="the model, the automaton, and the certificate")
    parser.add_argument("--seconds", type=int, default=600, help="give up after this many seconds [default: 600]")
    arguments = parser.parse_args()

    def late(*_):
        raise Refused(f"it takes longer than {arguments.seconds} seconds")
    signal.signal(signal.SIGALRM, late)
    signal.alarm(arguments.seconds)
    try:
        told = confirm(*(Path(name).read_bytes() for name in arguments.files))
    except Exception as error:  # any error means that the certificate is not confirmed
        print("refused:", str(error) if isinstance(error, Refused) else f"{error!r:.300}")
        return 1
    print(f"confirmed: {told}; {time.process_time():.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())

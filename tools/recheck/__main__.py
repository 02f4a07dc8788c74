"""Confirms a certificate of echostack, or refuses it, with Arb's ball arithmetic and nothing of the library.

Usage: python tools/recheck MODEL AUTOMATON CERTIFICATE, the automaton as `echostack certify --write-automaton` writes it. Needs
python-flint. Exits with 0 if the certificate proves that the machine does what the automaton does on every word, else with 1.
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
    """What is said of a certificate that is confirmed, from the bytes of the three files; `Refused` if it is not."""
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
    parser.add_argument("--seconds", type=int, default=600, help="refuse what takes longer [default: 600]")
    arguments = parser.parse_args()

    def late(*_):
        raise Refused(f"it takes longer than {arguments.seconds} seconds")
    signal.signal(signal.SIGALRM, late)
    signal.alarm(arguments.seconds)
    try:
        told = confirm(*(Path(name).read_bytes() for name in arguments.files))
    except Exception as error:  # whatever a file makes us stumble over, it is not confirmed
        print("refused:", str(error) if isinstance(error, Refused) else f"{error!r:.300}")
        return 1
    print(f"confirmed: {told}; {time.process_time():.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Confirms or refuses a certificate of echostack, with Arb's ball arithmetic and without any code of the library.

Usage: python tools/recheck MODEL TEACHER CERTIFICATE, for a machine with two stacks, with its Turing machine or rules, or
       python tools/recheck MODEL AUTOMATON CERTIFICATE [--grammar PATH], with the automaton as written by
`echostack certify --write-automaton`, and with the grammar as a file or a folder. Needs python-flint. What is confirmed:
- the machine does what the automaton does on every word;
- with --grammar, the automaton accepts what the grammar says; if the certificate is for a grammar or a lexer, these are
  the ones given.
The exit code is 0 if this is proved, 1 if it is not, and 3 if only the machine is confirmed, because the certificate is
for a grammar and --grammar is not given.
"""
import argparse
import hashlib
import json
import signal
import sys
import time
from pathlib import Path

from bounds import Bounds
from certificate import Automaton, Certificate
from grammar import check_translation
from model import Model, Refused, require
from two_stacks import TwoStacks

CONFIRMED, REFUSED, PARTLY = 0, 1, 3


def confirm(model, automaton, certificate, grammar=None, lexer=None):
    """Checks a certificate, given the bytes of the files, and returns a summary and whether nothing is left to
    check. Raises `Refused` if it fails."""
    if "two_stacks" in json.loads(certificate):
        require(grammar is None, "a machine with two stacks has no grammar")
        return TwoStacks(model, automaton, json.loads(certificate, object_pairs_hook=once)).confirm(), True
    model, automaton = Model(model), Automaton(json.loads(automaton))
    certificate = Certificate(json.loads(certificate, object_pairs_hook=once), model, automaton)
    parts = certificate.parts
    check_digests(parts, model, grammar, lexer)
    translation = check_translation(grammar.decode(), automaton) if grammar is not None else None
    bounds = Bounds(model)
    least = min(bounds.least(*end, decisions) for end, decisions in certificate.decisions.items())
    count, found = sum(map(len, certificate.decisions.values())), ", found here" * certificate.finds
    told = [f"machine: {count} cells, smallest margin {float(least):.6g}, {certificate.completions} completions{found}"]
    if translation:
        told.append(f"translation of the grammar: {translation}")
    elif "grammar" in parts:
        told.append("the translation of the grammar is not checked, for lack of --grammar")
    else:
        told.append("the chain begins at the automaton")
    if "lexer" in parts:
        told.append("lexer: that of the model" if lexer is not None else "the file of the lexer is not looked at")
    return "; ".join(told), bool(translation) or "grammar" not in parts


def check_digests(parts, model, grammar, lexer):
    """Checks that a grammar and a lexer are those of the certificate and, for a lexer, that of the model, which is not
    part of the model's digest."""
    own = model.manifest.get("lexer")
    for name, text in (("grammar", grammar), ("lexer", lexer), ("lexer", own.encode() if own is not None else None)):
        if name in parts and text is not None:
            require(hashlib.sha256(text).hexdigest() == parts[name]["digest"], f"it is for another {name}")
    if lexer is not None:
        require(own is not None or "lexer" not in parts, "the model has no lexer")
        require(own is None or own.encode() == lexer, "the lexer in the model is another one")


def once(pairs):
    """Returns an object of JSON, in which no field may stand twice."""
    require(len(dict(pairs)) == len(pairs), "a field stands twice")
    return dict(pairs)


def read_grammar(path):
    """Returns the texts of a grammar and its lexer, as bytes; None for what is not there."""
    if path is None or not path.is_dir():
        return path and path.read_bytes(), None
    lexer = path / "lexer.l"
    return (path / "grammar.y").read_bytes(), lexer.read_bytes() if lexer.exists() else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs=3, metavar="FILE", help="the model, the automaton or teacher, and the certificate")
    parser.add_argument("--grammar", type=Path, metavar="PATH", help="a file, or a folder with grammar.y and perhaps lexer.l")
    parser.add_argument("--seconds", type=int, default=600, help="give up after this many seconds [default: 600]")
    arguments = parser.parse_args()

    def late(*_):
        raise Refused(f"it takes longer than {arguments.seconds} seconds")
    signal.signal(signal.SIGALRM, late)
    signal.alarm(arguments.seconds)
    try:
        told, whole = confirm(*(Path(name).read_bytes() for name in arguments.files), *read_grammar(arguments.grammar))
    except Exception as error:  # any error means that the certificate is not confirmed
        print("refused:", str(error) if isinstance(error, Refused) else f"{error!r:.300}")
        return REFUSED
    print(f"confirmed{'' if whole else ' in part'}: {told}; {time.process_time():.1f} s")
    return CONFIRMED if whole else PARTLY


if __name__ == "__main__":
    sys.exit(main())

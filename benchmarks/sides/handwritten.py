#!/usr/bin/env python3
"""Grammars written by hand for three programs, with mistakes that people make.

    python3 handwritten.py run NAME             the program, which stays open
    python3 handwritten.py compare ECHOSTACK    compares each grammar with its program, and again with each mistake

NAME is `dates` (datetime.fromisoformat of Python), `versions` (packaging.version.Version) or `queries` (jmespath.compile); the
last two need a package from PyPI. What the first comparison of a grammar finds is known in the others, so that these show
what the mistake changes.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
QUERIES = "20000"
SECONDS = "60"  # jmespath takes long to read long texts

EXAMPLES = {
    "dates": ["2024-05-17", "2024-05-17T09:30:00", "2023-12-31T23:59:59.999999", "2024-02-29 12:00", "1999-01-01T00:00:00+02:00",
              "2020-06-15T08:45:10Z", "2021-W07-3", "20240517", "20240517T093000", "2010-10-10T10:10:10,123-0530", "2021W07",
              "2001-01-01T01", "2001-01-01T01+01:02:03"],
    "versions": ["1.0", "2.31.0", "1.0a1", "1.0.b2", "2!1.0", "1.0-rc.1", "1.0c3", "1.0.dev4", "1.0.post5", "1.0-6", "1.0a1.post2.dev3",
                 "1.0+ubuntu.1", "v1.2", "1.0-alpha", "1.0rev7", "1.0preview8", " 1.0 ", "1.0+abc-def_5"],
    "queries": ["foo", "foo.bar.baz", "a[*].b[0].c", "a[?b > `20`].[c, d]", "a || b", "a[?b == 'x'].c | sort(@)", "a[1:10:2]", "*.a",
                "{a: b, \"c-d\": e}", "length(a)", "a[]", "!a && (b || c)", "max_by(a, &b).c", "a[-1]", "a.{b: c, d: e[0]}", "a[?b != null]",
                "`{\"a\": [1, 2]}`", "[a, b]", "a[::-1]", "now()", "'it\\'s'"],
}

# What the mistake is, the file, what is in it, and what is there instead.
MISTAKES = {
    "dates": [
        ("a comma before the fraction is forgotten", "grammar.y", "Point: '.' | ',';", "Point: '.';"),
        ("days may have one digit", "grammar.y", "Day: '0' Positive |", "Day: Positive | '0' Positive |"),
        ("weeks without a day are forgotten", "grammar.y", "Weekday | Year '-' 'W' Week\n    | Year 'W' Week Weekday | Year 'W' Week;",
         "Weekday\n    | Year 'W' Week Weekday;"),
        ("only T separates date and time", "lexer.l", "[^0-9] ", "T "),
        ("a fraction has exactly three digits", "grammar.y", "Digits: Digit | Digits Digit;", "Digits: Digit Digit Digit;"),
        ("the seconds of a zone are forgotten", "grammar.y", " | Sign Hour ':' Sixty ':' Sixty;", ";"),
        ("there is an hour 24", "grammar.y", "| '2' '3';", "| '2' '3' | '2' '4';"),
    ],
    "versions": [
        ("dev releases in upper case are forgotten", "lexer.l", "[dD][eE][vV]", "dev"),
        ("`c` is forgotten among pre-releases", "lexer.l", "|[cC]|", "|"),
        ("epochs are forgotten", "grammar.y", "Epoch: | 'epoch';", "Epoch: ;"),
        ("a local version has one segment", "lexer.l", "+([-_.][a-zA-Z0-9]+)* \"local\"", "+ \"local\""),
        ("implicit post releases are forgotten", "lexer.l", "|-[0-9]+ \"post\"", " \"post\""),
        ("dev comes before post", "grammar.y", "Pre Post Dev Local", "Pre Dev Post Local"),
        ("a release needs two numbers", "grammar.y", "Release: 'number' |", "Release: 'number' '.' 'number' |"),
    ],
    "queries": [
        ("a list after a dot is forgotten", "grammar.y", " | Query '.' List", ""),
        ("negative indices are forgotten", "lexer.l", "-?[0-9]+", "[0-9]+"),
        ("steps of slices are forgotten", "grammar.y", " | Bound ':' Bound ':' Bound;", ";"),
        ("& is allowed in front of any query", "grammar.y", "| '!' Query\n", "| '!' Query | '&' Query %prec '!'\n"),
        ("calls without arguments are forgotten", "grammar.y", "Call: 'name' '(' ')' | ", "Call: "),
        ("an empty hash is allowed", "grammar.y", "Hash: '{' Pairs '}';", "Hash: '{' Pairs '}' | '{' '}';"),
        ("names may have a hyphen", "lexer.l", "[A-Za-z0-9_]* \"name\"", "[A-Za-z0-9_-]* \"name\""),
        ("escapes in raw strings are forgotten", "lexer.l", "'([^'\\\\]|\\\\[^\\n])*'", "'[^']*'"),
        ("keys in quotation marks are forgotten", "grammar.y", "Key: 'name' | 'quoted';", "Key: 'name';"),
    ],
}


def load(name):
    """Returns the function that parses a text."""
    if name == "dates":
        from datetime import datetime
        return datetime.fromisoformat
    if name == "versions":
        from packaging.version import Version
        return Version
    import jmespath
    return jmespath.compile


def serve(name):
    parse = load(name)
    for line in sys.stdin:
        try:
            parse(json.loads(line))
            valid = True
        except Exception:  # every exception means that the text is refused
            valid = False
        print("true" if valid else "false", flush=True)


def compared(echostack, name, grammar, folder, known=None):
    """Compares a grammar with its program."""
    program = f"persistent:{sys.executable} {Path(__file__).resolve()} run {name}"
    more = ["--known", known] if known else []
    done = subprocess.run([echostack, "--quiet", "compare", f"program={program}", f"grammar={grammar}", "--examples", folder, "--queries", QUERIES, "--seconds", SECONDS,
                           "--json", *more], capture_output=True, text=True)
    if done.returncode == 2:
        raise SystemExit(done.stderr)
    return done.stdout


def show(kind):
    said = "; ".join(f"at {said['at']}, {said['reason']}" for said in kind["said"] if said["side"] == "grammar" and said["reason"])
    print(f"    {json.dumps(kind['text'])[:70]}: accepted by {', '.join(kind['accepted_by'])}, agreed up to {kind['at']}{'; ' if said else ''}{said}")


def measure(echostack, name):
    with tempfile.TemporaryDirectory() as folder:
        examples = Path(folder, "examples")
        examples.mkdir()
        for number, text in enumerate(EXAMPLES[name]):
            (examples / f"{number:02}").write_text(text)
        known = Path(folder, "known.json")
        known.write_text(compared(echostack, name, HERE / "handwritten" / name, examples))
        first = json.loads(known.read_text())
        print(f"{name}: {len(first['kinds'])} kinds, {first['queries']} queries, {first['seconds']:.0f} s", flush=True)
        for kind in first["kinds"]:
            show(kind)
        for number, (what, file, old, new) in enumerate(MISTAKES[name]):
            grammar = Path(folder, f"mistake-{number}")
            grammar.mkdir()
            for own in ("grammar.y", "lexer.l"):
                text = (HERE / "handwritten" / name / own).read_text()
                if own == file:
                    assert text.count(old) == 1, (name, what)
                    text = text.replace(old, new)
                (grammar / own).write_text(text)
            found = json.loads(compared(echostack, name, grammar, examples, known))
            fresh = [kind for kind in found["kinds"] if not kind["known"]]
            print(f"  {what}: {len(fresh)} new kinds, {found['queries']} queries", flush=True)
            for kind in fresh[:8]:
                show(kind)


def main():
    if sys.argv[1] == "run":
        serve(sys.argv[2])
        return
    for name in sys.argv[3:] or EXAMPLES:
        measure(sys.argv[2], name)


if __name__ == "__main__":
    main()

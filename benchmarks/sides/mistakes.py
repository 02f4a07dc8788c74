#!/usr/bin/env python3
"""Reference parsers with seeded mistakes, each in one line of the source.

    python3 mistakes.py draw                     draws the mistakes, which are in references/mistakes.json
    python3 mistakes.py list LANGUAGE            the mistakes, one per line
    python3 mistakes.py run LANGUAGE [NUMBER]    the parser, with a mistake, as a program that stays open
    python3 mistakes.py examples LANGUAGE FOLDER writes the examples

A mistake replaces an operator, a constant or a condition in one line of references/LANGUAGE.py. It counts only if the
parser with it still ends on all examples and accepts them. The mistakes are drawn by a fixed seed.
"""

import json
import random
import re
import signal
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "references"
LANGUAGES = ["arithmetic", "json_text", "settings"]
COUNT = 50
# How often a parser may look at each character of a text, and the CPU time that it may take for a text, in seconds.
LOOKS = 100
LIMIT = 5

EXAMPLES = {
    "arithmetic": ["1", "12 + 3", "x", "2*(3-y)", "f()", "g(1, x)", "-4.5", "2^8", "a_1 / 7 % 2", "1e3", "6.02E+23", "((a))",
                   "max(1, -2, h(3)) * 4", "+ 5 - -6"],
    "json_text": ["[1, 2]", "{}", "[]", "\"a\"", "true", "false", "null", "-1.5e+3", "{\"a\": [1, {\"b\": null}]}", "\"\\n\\u00e9\"",
                  "[0, 10, 2E5]", "{\"x\": \"y\", \"z\": 0.5}", " [ \"\" ] ", "[[], {}, [[]]]"],
    "settings": ["a = 1", "[main]\nname = \"x\"\nsize: 12", "# nothing\n", "list = [1, 2, 3]", "a.b-c_d = true", "x = 'it\\'s'",
                 "y = -0.5", "[one.two]\nz = [] # empty\n\nw = none", "v = [\"a\", [false, 1],]", "rate = 50%", "t = \"a\\tb\\n\""],
}

# What a mistake replaces, and by what.
REPLACED = [
    (r" == ", [" != "]), (r" != ", [" == "]), (r" < ", [" <= "]), (r" > ", [" >= "]), (r" and ", [" or "]), (r" or ", [" and "]),
    (r" not in ", [" in "]), (r"\bnot ", [""]), (r"\+= 1\b", ["+= 2", "+= 0"]), (r"\bTrue\b", ["False"]), (r"\bFalse\b", ["True"]),
    (r"\b1\b", ["0", "2"]), (r"\b4\b", ["3", "5"]), (r"\b9\b", ["8", "10"]), (r"\b200\b", ["199", "201"]),
    (r"\bwhile\b", ["if"]), (r"(?<=if )[^:]*(?=:$)", ["True", "False"]), (r"^(\s+)(?!return|def|class|raise)\w[\w.]* \+?= .*$", [r"\1pass"]), (r"\belif\b", ["if"]), (r"^(\s+)(?!return|def|class|raise|while|if|elif|else|for)(\w[\w.]*\(.*\))$", [r"\1pass"]),
    (r"^(\s+)return$", [r"\1pass"]), (r"^(\s+)break$", [r"\1pass"]),
    (r"isalnum", ["isalpha"]), (r"isalpha", ["isalnum"]), (r"\.isascii\(\) and ", [".isprintable() and "]),
    (r'"0123456789"', ['"123456789"', '"012345678"', '"0123456789_"']), (r'"0123456789abcdefABCDEF"', ['"0123456789abcdef"', '"0123456789abcdefABCDE"', '"0123456789abcdefgABCDEF"']),
    (r'" \\t\\n\\r"', ['" \\t\\n"', '" \\n\\r"', '" \\t\\n\\r\\f"']), (r"'\"\\\\/bfnrt'", ["'\"\\\\\\\\bfnrt'", "'\"\\\\\\\\/bfnrtv'", "'\"\\\\\\\\/bfnr'"]),
    (r'"\*/%"', ['"*/"', '"*/%&"']), (r'"\+-"', ['"+"', '"-"', '"+-!"']), (r'"eE"', ['"e"', '"eEd"']), (r'\(" ", "\\t"\)', ['(" ",)', '(" ", "\\t", "\\f")']),
    (r"xyzA", ["xzA", "xyz$A"]), (r'"_-"', ['"_"', '"_-/"']), (r'\("=", ":"\)', ['("=",)', '("=", ":", "~")']),
    (r'"true", "false"', ['"true", "True", "false"', '"true", "false", "null"']), (r'"%"', ['"%$"']), (r'" "(?=:)', ['"!"', '"\\x1f"']),
    (r'"\\n"(?=:)', ['"\\r"']), (r'"\."', ['","']), (r'"_"', ['"$"']), (r'"\^"', ['"^~"']), (r'"\("', ['"(["']),
]


def sites(source):
    """Returns all mistakes that can be made: the number of a line, and the new line."""
    found = []
    for number, line in enumerate(source.splitlines()):
        if line.strip().startswith(('"""', "def ", "class ")):
            continue
        if line.strip().startswith("raise"):
            found.append((number, line[:len(line) - len(line.lstrip())] + "pass"))
            continue
        for pattern, others in REPLACED:
            for match in re.finditer(pattern, line):
                for other in others:
                    other = match[1] + other[2:] if other.startswith(r"\1") else other
                    found.append((number, line[:match.start()] + other + line[match.end():]))
        for literal in re.finditer(r'"(?:[^"\\\\]|\\\\.)*"|\'(?:[^\'\\\\]|\\\\.)*\'', line):
            inner = literal[0][1:-1]
            if len(inner) > 1 and "\\" not in inner:
                for other in (inner[1:], inner[:-1], inner + "$", inner + "\u00e9"):
                    found.append((number, line[:literal.start() + 1] + other + line[literal.end() - 1:]))
        condition = re.fullmatch(r"(\s+(?:if|elif|while) )(.*) (?:and|or) (.*):", line)
        if condition:
            found.extend((number, f"{condition[1]}{part}:") for part in condition.groups()[1:] if part.count("(") == part.count(")"))
    return [(number, new) for number, new in dict.fromkeys(found) if new != source.splitlines()[number]]


class TooSlow(BaseException):
    """A parser takes too long."""


def stop(*_):
    raise TooSlow


def counted(reader):
    """Makes a reader stop if it looks at characters much more often than there are some: a mistake can lead to a loop without end."""
    peek, create = reader.peek, reader.__init__

    def counting(self):
        self.left -= 1
        if self.left < 0:
            raise TooSlow
        return peek(self)

    def creating(self, text):
        create(self, text)
        self.left = 10_000 + LOOKS * len(text)

    reader.peek, reader.__init__ = counting, creating


def load(source):
    """Returns a function that says whether a text is valid. A text on which the parser does not end is not."""
    space = {}
    exec(compile(source, "parser", "exec"), space)
    counted(space["Reader"])

    def accepts(text):
        # CPU time, so that other work on the computer changes nothing.
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
            try:
                space["parse"](text)
                return True
            except Exception:
                return False
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        except TooSlow:
            return False

    return accepts


def changed(source, mistake):
    lines = source.splitlines()
    lines[mistake[0]] = mistake[1]
    return "\n".join(lines) + "\n"


def mistakes(language):
    """Returns the mistakes of a language."""
    return [tuple(mistake) for mistake in json.loads((FOLDER / "mistakes.json").read_text())[language]]


def draw(language):
    """Draws the mistakes of a language. Those that the examples show do not count."""
    source = (FOLDER / f"{language}.py").read_text()
    found = sites(source)
    random.Random(0).shuffle(found)
    kept = []
    for mistake in found:
        try:
            accepts = load(changed(source, mistake))
        except SyntaxError:
            continue
        if all(accepts(text) for text in EXAMPLES[language]):
            kept.append(mistake)
        if len(kept) == COUNT:
            break
    return sorted(kept)


def parser(language, number=None):
    """Returns the parser of a language, with a mistake or without."""
    source = (FOLDER / f"{language}.py").read_text()
    if number is not None:
        source = changed(source, mistakes(language)[number])
    return load(source)


signal.signal(signal.SIGVTALRM, stop)
sys.setrecursionlimit(5000)


def main():
    command, language = sys.argv[1], sys.argv[-1] if len(sys.argv) < 3 else sys.argv[2]
    if command == "draw":
        drawn = json.dumps({language: draw(language) for language in LANGUAGES}, indent=1)
        (FOLDER / "mistakes.json").write_text(drawn + "\n")
    elif command == "list":
        lines = (FOLDER / f"{language}.py").read_text().splitlines()
        for number, (line, new) in enumerate(mistakes(language)):
            print(f"{number:2} line {line + 1}: {lines[line].strip()}  ->  {new.strip()}")
    elif command == "examples":
        folder = Path(sys.argv[3])
        folder.mkdir(parents=True)
        for number, text in enumerate(EXAMPLES[language]):
            (folder / f"{number:02}").write_text(text)
    else:
        accepts = parser(language, int(sys.argv[3]) if len(sys.argv) > 3 else None)
        for line in sys.stdin:
            print("true" if accepts(json.loads(line)) else "false", flush=True)


if __name__ == "__main__":
    main()

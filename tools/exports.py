"""Compares exports with the programs they are meant for: on every text, each must give the verdict of `echostack check`.

Usage: exports.py ECHOSTACK [--tools lark bison llguidance xgrammar] [--grammars json ...] [--count 300] [--seed 0]

For each grammar, a machine is learned and proved, its grammar is exported, and texts are made: words of the grammar,
written with random texts for their tokens, with and without space between them, half of them damaged. bison and flex are
compiled with gcc and run; the Python packages read the exported file as it is. Exits with 1 if a verdict differs.
"""
import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FORMATS = {"lark": ["lark"], "bison": ["yacc", "flex"], "llguidance": ["llguidance"], "xgrammar": ["gbnf"]}
# Texts of the tokens that are not written as their names.
TEXTS = {
    "json": {
        "STRING": ['""', '"a"', '"a b\\n\\u00e9"', '"é€😀"', '"\\\\"', '"\\""', '"true"'],
        "NUMBER": ["0", "-0", "12", "1.5", "-3e+7", "10E2", "0.25e-1"],
    },
    "xml": {
        "NAME": ["a", "id", "ody", "html", "x-1", "b", "A"],
        "VALUE": ['""', '"v"', '"a = >"', '"é"'],
        "TEXT": [".", "12", "é!", ",,", "&#3;"],
    },
    "csv": {"PLAIN": ["a", "12", "é x", " ", "'", ";"], "QUOTED": ['""', '"a"', '"a""b"', '"\n"', '","'], "NEWLINE": ["\n", "\r\n"]},
    "sexpr": {"ATOM": ["a", "12", "+", "x.y", "a#", "@", "@a", "é", "...x"], "STRING": ['""', '"a\\"b"', '"\\\n"', '"é"']},
    "arithmetic": {"NUMBER": ["0", "12", "1.5", "007", "3.25"], "NAME": ["x", "f", "_a1", "e5"]},
    "lua": {
        "NAME": ["x", "f", "_a1", "ends", "e5", "nilx", "dot"],
        "NUMBER": ["0", "12", "1.5", "3.", "1e9", "2.5e-3"],
        "STRING": ['""', "'a'", '"\\""', "'é--'"],
    },
}
SPACE = {
    "csv": [""],
    "lua": ["", "", " ", "\n", " -- x\n", "--\n\t"],
    "sexpr": ["", "", " ", "\n", " ; c\n", ";\n"],
}


def run(*arguments, given=None):
    done = subprocess.run(arguments, input=given, capture_output=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, arguments))}: {done.stderr.decode()}")
    return done.stdout.decode()


def damage(draw, text):
    """Changes a text in one to three places."""
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(text) + 1)
        piece = draw.choice([text[draw.randrange(len(text) + 1) :][: draw.randint(1, 3)], draw.choice(list("\"'\\{}[]()<>=-.,:;#@ \n\r\t0aé€&~+*"))])
        end = min(len(text), at + draw.choice([0, 0, 1, 1, 2]))
        text = text[:at] + (piece if draw.random() < 0.6 else "") + text[end:]
    return text


def texts(program, name, count, draw):
    """Returns texts of a grammar, half of them damaged."""
    words = run(program, "--quiet", "sample", "--grammar", ROOT / "testdata/grammars" / name, "--count", str(count), "--max-length", "40", "--seed", str(draw.randrange(1 << 30)))
    texts = []
    for number, line in enumerate(words.splitlines()[:count]):
        space = SPACE.get(name, ["", "", " ", "\n", "\r\n", "\t "])
        if draw.random() < 0.5:
            space = [part for part in space if part] or [""]
        tokens = [draw.choice(TEXTS[name].get(token, [token])) for token in line.split()]
        text = "".join(draw.choice(space) + token for token in tokens) + draw.choice(space)
        texts.append(damage(draw, text) if number % 2 else text)
    return texts


def verdicts(program, model, folder, texts):
    """Returns whether the machine accepts each text."""
    out = []
    for begin in range(0, len(texts), 2000):
        names = []
        for number, text in enumerate(texts[begin : begin + 2000]):
            path = folder / f"text{number}"
            path.write_bytes(text.encode())
            names.append(path)
        lines = run(program, "check", model, "--json", *names).splitlines()
        out += [json.loads(line)["verdict"] == "accept" for line in lines]
    return out


def with_lark(files):
    import lark

    text = files["lark"].read_text()
    parser = lark.Lark(text, lexer="basic", parser="lalr" if 'parser="lalr"' in text.splitlines()[0] else "earley")

    def accepts(text):
        try:
            parser.parse(text)
            return True
        except lark.exceptions.LarkError:
            return False

    return accepts


def with_bison(files):
    folder = files["yacc"].parent
    for command in (
        ["bison", "-Werror", "-o", "parser.c", files["yacc"]],
        ["flex", "-o", "lexer.c", files["flex"]],
        ["gcc", "-O1", "-Wall", "-Wextra", "-o", "program", "parser.c", "lexer.c"],
    ):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode or done.stderr:
            sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return lambda text: subprocess.run([folder / "program"], input=text.encode(), capture_output=True).returncode == 0


def with_llguidance(files):
    import llguidance

    tokenizer = llguidance.LLTokenizer("byte")
    matcher = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_lark(files["llguidance"].read_text()))
    if matcher.get_error():
        sys.exit(f"llguidance: {matcher.get_error()}")

    def accepts(text):
        matcher.reset()
        tokens = list(text.encode())
        read = matcher.try_consume_tokens(tokens)
        return read == len(tokens) and matcher.is_accepting()

    return accepts


def with_xgrammar(files):
    import xgrammar

    vocabulary = [bytes([byte]) for byte in range(256)] + [b"<end>"]
    info = xgrammar.TokenizerInfo(vocabulary, stop_token_ids=[256])
    compiled = xgrammar.GrammarCompiler(info).compile_grammar(xgrammar.Grammar.from_ebnf(files["gbnf"].read_text()))

    def accepts(text):
        matcher = xgrammar.GrammarMatcher(compiled)
        # Byte by byte: every prefix of an accepted text is accepted.
        return all(matcher.accept_token(byte) for byte in text.encode()) and matcher.accept_token(256)

    return accepts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--tools", nargs="+", choices=FORMATS, default=["lark", "bison", "llguidance"])
    parser.add_argument("--grammars", nargs="+", choices=TEXTS, default=["json", "xml", "csv", "sexpr", "arithmetic"])
    parser.add_argument("--models", help="folder with models that were learned before, as GRAMMAR.safetensors")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    program = Path(options.program).resolve()
    makers = {"lark": with_lark, "bison": with_bison, "llguidance": with_llguidance, "xgrammar": with_xgrammar}
    bad = 0
    for name in options.grammars:
        draw = random.Random(f"{options.seed} {name}")
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            model = Path(options.models or "") / f"{name}.safetensors"
            if not options.models or not model.exists():
                model = folder / "model.safetensors"
                run(program, "--quiet", "learn", "--grammar", ROOT / "testdata/grammars" / name, "--prove", "-o", model)
            given = texts(program, name, options.count, draw)
            wanted = verdicts(program, model, folder, given)
            for tool in options.tools:
                files = {}
                for form in FORMATS[tool]:
                    files[form] = folder / f"{name}.{form}"
                    run(program, "--quiet", "extract", model, "--format", form, "-o", files[form])
                    if not files[form].exists():
                        sys.exit(f"{name}: no {form}")
                accepts = makers[tool](files)
                wrong = [text for text, verdict in zip(given, wanted, strict=True) if accepts(text) != verdict]
                for text in wrong[:3]:
                    print(f"     {text!r}: {tool} {'accepts' if accepts(text) else 'refuses'}")
                print(f"{'BAD ' if wrong else 'ok  '} {name} {tool}: {len(given)} texts, {sum(wanted)} accepted, {len(wrong)} differ", flush=True)
                bad += len(wrong)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()

"""Compares exports of grammars with the programs that read them: on every text, both must give the same verdict.

Usage: exports.py ECHOSTACK [--tools lark bison ...] [--grammars json FOLDER ...] [--count 300] [--seed 0]

Each grammar is exported, the program reads the file as it is, and judges texts: half of them are valid, a quarter are
near misses that `echostack sample` draws, and a quarter are valid texts with one to three random edits. What `echostack
export` refuses cannot be expressed: the message is printed, and is a failure only if `--require` names it. Exits with 1
if a verdict differs, or if a program refuses a file or does not end. With `--keep FOLDER`, the exports are kept. The
tool `c` is the recognizer that `echostack compile --emit c` writes.

For ANTLR 4, `ANTLR_CLASSPATH` selects another version than the one from Debian.
"""
import argparse
import base64
import collections
import contextlib
import ctypes
import importlib.util
import json
import multiprocessing
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GRAMMARS = [ROOT / "testdata" / folder for folder in ("grammars", "wild", "grammars-large")]
# How the definition of a rule or token begins, in each notation.
DEFINITIONS = {
    "gbnf": r"^[\w-]+\s*::=",
    "lark": r"^[?!]?_?[a-zA-Z]\w*(\.\d+)?\s*:",
    "llguidance": r"^[?!]?_?[a-zA-Z]\w*(\[[^\]]*\])?\s*:",
    "antlr": r"^(fragment\s+)?[a-zA-Z]\w*\s*:",
    "yacc": r"^\s*[a-zA-Z_.][\w.-]*\s*:",
}
# With more stacks than these, llama.cpp needs seconds for each character, because it compares all with each other.
MOST_STACKS = 200
DEBIAN_JARS = ["antlr4", "antlr4-runtime", "antlr3-runtime", "stringtemplate4", "treelayout"]


class Refusal(Exception):
    """A program that does not read a file, with its message."""


def called(*command, given=None, folder=None, allowed=(0,)):
    """Returns what a command prints; raises a refusal with its messages if it fails."""
    done = subprocess.run(command, input=given, cwd=folder, capture_output=True)
    if done.returncode not in allowed:
        name = Path(command[0]).name
        raise Refusal(f"{name}: {done.stderr.decode(errors='replace').strip() or f'exit code {done.returncode}'}")
    return done.stdout.decode()


def timed(*command, **options):
    """Returns what a command prints, and its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = called(*command, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return out, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def with_lark(files, texts):
    """lark, with the parser that the first line of the file names."""
    import lark

    text = files["lark"].read_text()
    algorithm = "lalr" if 'parser="lalr"' in text.splitlines()[0] else "earley"
    try:
        parser = lark.Lark(text, lexer="basic", parser=algorithm)
    except lark.exceptions.LarkError as error:
        raise Refusal(str(error)) from error
    for text in texts:
        try:
            parser.parse(text)
            yield True
        except lark.exceptions.LarkError:
            yield False


def with_bison(files, texts):
    """bison and flex, compiled with gcc. A warning is a refusal, except where the grammar itself has conflicts of reductions.

    bison knows %expect-rr, but warns of it, and of the conflicts, unless the parser is a GLR parser.
    """
    folder = files["yacc"].parent
    allowed = ["-Wno-error=conflicts-rr", "-Wno-error=other"] if "\n%expect-rr" in files["yacc"].read_text() else []
    called("bison", "-Werror", *allowed, "-o", "parser.c", files["yacc"], folder=folder)
    called("flex", "-o", "lexer.c", files["flex"], folder=folder)
    called("gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", "program", "parser.c", "lexer.c", folder=folder)
    for text in texts:
        yield subprocess.run([folder / "program"], input=text.encode(), capture_output=True).returncode == 0


def with_llguidance(files, texts):
    """llguidance, with a token for each byte."""
    import llguidance

    grammar = llguidance.LLMatcher.grammar_from_lark(files["llguidance"].read_text())
    matcher = llguidance.LLMatcher(llguidance.LLTokenizer("byte"), grammar)
    if matcher.get_error():
        raise Refusal(matcher.get_error())
    for text in texts:
        matcher.reset()
        tokens = list(text.encode())
        yield matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()


def with_xgrammar(files, texts):
    """xgrammar, with a token for each byte: every prefix of an accepted text is accepted."""
    import xgrammar

    info = xgrammar.TokenizerInfo([bytes([byte]) for byte in range(256)] + [b"<end>"], stop_token_ids=[256])
    try:
        grammar = xgrammar.Grammar.from_ebnf(files["gbnf"].read_text())
        compiled = xgrammar.GrammarCompiler(info, max_threads=1).compile_grammar(grammar)
    except RuntimeError as error:
        raise Refusal(str(error)) from error
    for text in texts:
        matcher = xgrammar.GrammarMatcher(compiled)
        yield all(matcher.accept_token(byte) for byte in text.encode()) and matcher.accept_token(256)


def llama_functions():
    """The functions of llama.cpp's grammars, which need no model, from the library inside the package xllamacpp."""
    package = Path(importlib.util.find_spec("xllamacpp").origin).parent
    library = ctypes.CDLL(next(str(path) for path in package.glob("xllamacpp*.so")))
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    of_text = [pointer, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_bool, pointer, size, pointer, size]
    signatures = {
        "_Z23llama_grammar_init_implPK11llama_vocabPKcS3_bPS3_mPKim": (pointer, of_text),
        "_Z24llama_grammar_clone_implRK13llama_grammar": (pointer, [pointer]),
        "_Z23llama_grammar_free_implP13llama_grammar": (None, [pointer]),
        "_Z20llama_grammar_acceptP13llama_grammarj": (None, [pointer, ctypes.c_uint32]),
        "_Z24llama_grammar_get_stacksP13llama_grammar": (pointer, [pointer]),
    }
    for name, (result, arguments) in signatures.items():
        function = library[name]
        function.restype, function.argtypes = result, arguments
        yield function


def elements(vector, size=24):
    """The addresses of the elements of a std::vector, whose size is that of another vector unless given."""
    begin, end = ctypes.cast(vector, ctypes.POINTER(ctypes.c_size_t))[:2]
    return range(begin, end, size)


def with_llamacpp(files, texts):
    """llama.cpp: a text is accepted if one of the stacks of its grammar is empty at the end.

    It has a stack for each way to read the text so far. If these are too many to go on, there is no verdict.
    """
    read, clone, free, accept, stacks = llama_functions()
    grammar = read(None, files["gbnf"].read_bytes(), b"root", False, None, 0, None, 0)
    if not grammar:
        raise Refusal("llama.cpp refuses the grammar; its reason is on the standard error")
    for text in texts:
        state = clone(grammar)
        for character in text:
            accept(state, ord(character))
            if not 0 < len(elements(stacks(state))) <= MOST_STACKS:
                break
        ways = elements(stacks(state))
        yield None if len(ways) > MOST_STACKS else any(not elements(stack, 1) for stack in ways)
        free(state)


def with_antlr(files, texts):
    """The parser that ANTLR writes in Java. A warning is a refusal."""
    jars = os.environ.get("ANTLR_CLASSPATH") or ":".join(f"/usr/share/java/{name}.jar" for name in DEBIAN_JARS)
    text = files["antlr"].read_text()
    name = re.search(r"^grammar\s+(\w+)\s*;", text, re.MULTILINE)[1]
    start = re.search(r"^([a-z]\w*)\s*:", text, re.MULTILINE)[1]
    folder = files["antlr"].parent / "java"
    folder.mkdir()
    # The tool wants a file with the name of its grammar.
    shutil.copy(files["antlr"], folder / f"{name}.g4")
    called("java", "-cp", jars, "org.antlr.v4.Tool", "-Werror", "-encoding", "UTF-8", f"{name}.g4", folder=folder)
    sources = [ROOT / "tools/AntlrJudge.java", *folder.glob("*.java")]
    called("javac", "-nowarn", "-cp", jars, "-d", folder, *sources)
    given = b"".join(base64.b64encode(text.encode()) + b"\n" for text in texts)
    out = called("java", "-cp", f"{jars}:{folder}", "AntlrJudge", name, start, given=given)
    yield from (verdict == "1" for verdict in out.strip())


def with_c(files, texts):
    """The recognizer in C, compiled with gcc. A warning is a refusal."""
    folder = files["c"].parent / "c"
    folder.mkdir()
    # The source includes the header by the name that it was written with.
    shutil.copy(files["c"], folder)
    shutil.copy(files["c"].with_suffix(".h"), folder / files["c"].with_suffix(".h").name)
    shutil.copy(files["c"].with_suffix(".h"), folder / "recognizer.h")
    sources = [files["c"].name, ROOT / "tools/judge.c"]
    called("gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-I.", "-o", "judge", *sources, folder=folder)
    encoded = [text.encode() for text in texts]
    given = b"".join(b"%d\n%b" % (len(text), text) for text in encoded)
    yield from (verdict == "1" for verdict in called(folder / "judge", given=given))


Tool = collections.namedtuple("Tool", "judge formats needs install")
TOOLS = {
    "lark": Tool(with_lark, ["lark"], ["lark"], "pip install lark"),
    "bison": Tool(with_bison, ["yacc", "flex"], ["/bison", "/flex", "/gcc"], "apt-get install bison flex gcc"),
    "llguidance": Tool(with_llguidance, ["llguidance"], ["llguidance"], "pip install llguidance"),
    "xgrammar": Tool(with_xgrammar, ["gbnf"], ["xgrammar"], "pip install xgrammar"),
    "llamacpp": Tool(with_llamacpp, ["gbnf"], ["xllamacpp"], "pip install --no-deps xllamacpp"),
    "antlr": Tool(with_antlr, ["antlr"], ["/java", "/javac"], "apt-get install antlr4 default-jdk-headless"),
    "c": Tool(with_c, ["c"], ["/gcc"], "apt-get install gcc"),
}


def missing(name):
    """What a tool needs and is not installed: programs, which are written with a slash here, and Python packages."""
    for need in TOOLS[name].needs:
        present = shutil.which(need[1:]) if need.startswith("/") else importlib.util.find_spec(need)
        if not present:
            return f"{name} needs {need.strip('/')}: {TOOLS[name].install}"
    return None


def counted(path, form):
    """The rules and the lines of a grammar, without empty lines and comments; of C, the lines only."""
    if form == "c":
        return f"{len(path.read_text().splitlines())} lines"
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    if form == "yacc":
        text = (text.split("\n%%") + [""])[1]
        text = re.sub(r"'(\\.|[^'\\])*'|\"(\\.|[^\"\\])*\"", "x", text)
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("#", "//"))]
    rules = re.findall(DEFINITIONS[form], "\n".join(lines), re.MULTILINE)
    return f"{len(rules)} rules, {len(lines)} lines"


def sampled(program, grammar, kind, count, seed):
    """Texts that `echostack sample` draws, as many as the language has if these are fewer."""
    options = ["--kind", kind, "--count", str(count), "--seed", str(seed)]
    lines = called(program, "--quiet", "sample", grammar, "--texts", "--json", *options).split("\n")[:-1]
    return [json.loads(line)["text"] for line in lines]


def damaged(text, letters, choose):
    """A text, or a list of tokens, with one to three edits: something is left out, replaced, inserted or repeated."""
    for _ in range(choose.randint(1, 3)):
        begin = choose.randint(0, len(text))
        end = min(len(text), begin + choose.choice([0, 1, 1, 1, 2, 4]))
        piece = choose.choice([text[:0], text[begin:end] * 2, *[choose.choice(letters)] * 3])
        text = text[:begin] + piece + text[end:]
    return text


def drawn(program, grammar, count, seed):
    """Draws texts of a grammar: half are valid, a quarter are near misses, and a quarter are damaged."""
    valid = sampled(program, grammar, "valid", count - count // 2, seed)
    near_misses = sampled(program, grammar, "near-miss", count // 4, seed)
    choose = random.Random(seed)
    spoiled = [choose.choice(valid) for _ in range(count // 2 - count // 4)]
    if has_lexer(grammar):
        # Characters that the language does not have are of interest, too.
        letters = "".join(valid) + "".join(near_misses) + "@\\é\u2028"
        spoiled = [damaged(text, letters, choose) for text in spoiled]
    else:
        # `check` reads the names of tokens with space between them, whereas an export needs none after brackets.
        letters = [[token] for text in valid for token in text.split()]
        spoiled = [" ".join(damaged(text.split(), letters, choose)) or "\n" for text in spoiled]
    return valid + near_misses + spoiled


def has_lexer(grammar):
    """Whether a grammar reads texts, and not only tokens."""
    return (grammar if grammar.is_dir() else grammar.parent).joinpath("lexer.l").is_file()


def expected(program, grammar, texts, folder):
    """Asks `echostack check` whether the grammar accepts each text; prints the CPU seconds for the first one alone."""
    verdicts = []
    (folder / "first").write_bytes(texts[0].encode())
    used = timed(program, "check", grammar, "--json", folder / "first", allowed=(0, 1))[1]
    print(f"     {grammar.name} check: {used:.2f} s for one text", flush=True)
    for begin in range(0, len(texts), 2000):
        paths = [folder / f"text{number}" for number in range(begin, min(begin + 2000, len(texts)))]
        for path, text in zip(paths, texts[begin:]):
            path.write_bytes(text.encode())
        lines = called(program, "check", grammar, "--json", *paths, allowed=(0, 1)).split("\n")[:-1]
        verdicts += [json.loads(line)["verdict"] == "accept" for line in lines]
    if len(verdicts) != len(texts):
        raise Refusal(f"{len(texts)} texts, {len(verdicts)} verdicts")
    if len(set(verdicts)) < 2:
        raise Refusal(f"{len(texts)} texts, {sum(verdicts)} of them accepted: they show nothing")
    return verdicts


def judge_apart(sender, tool, files, texts):
    """Sends the verdicts of a tool, or its refusal, and the CPU seconds of its process and the programs it called."""
    try:
        outcome = list(TOOLS[tool].judge(files, texts))
    except Refusal as refusal:
        outcome = str(refusal)
    sender.send((outcome, sum(os.times()[:4])))


def judged(tool, files, texts, seconds):
    """Lets a tool judge texts in a process of its own, as it may crash or not end; returns verdicts and CPU seconds."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    given = (sender, tool, files, texts)
    process = multiprocessing.get_context("fork").Process(target=judge_apart, args=given, daemon=True)
    process.start()
    sender.close()
    try:
        if not receiver.poll(seconds):
            raise Refusal(f"{tool} has not ended after {seconds} seconds")
        outcome, used = receiver.recv()
    except EOFError as error:
        process.join()
        raise Refusal(f"{tool} crashed with exit code {process.exitcode}") from error
    finally:
        process.kill()
        process.join()
    if isinstance(outcome, str):
        raise Refusal(outcome)
    return outcome, used


def compare(tool, files, texts, wanted, seconds):
    """Compares a tool's verdicts with those that are wanted; returns whether they are equal, and what to print."""
    verdicts, used = judged(tool, files, texts, seconds)
    if len(verdicts) != len(texts):
        raise Refusal(f"{tool} gave {len(verdicts)} verdicts on {len(texts)} texts")
    given = [(text, verdict, right) for text, verdict, right in zip(texts, verdicts, wanted) if verdict is not None]
    wrong = [(text, verdict) for text, verdict, right in given if verdict != right]
    without = f"{len(texts) - len(given)} without a verdict, " if len(given) < len(texts) else ""
    lines = [f"{len(texts)} texts, {sum(wanted)} accepted, {len(wrong)} differ, {without}{used:.1f} s"]
    for text, verdict in sorted(wrong, key=lambda pair: len(pair[0]))[:3]:
        lines.append(f"     {text!r}: {tool} {'accepts' if verdict else 'refuses'}")
    return not wrong and len(given) >= len(texts) / 2, "\n".join(lines)


def try_tool(options, grammar, tool, texts, wanted, folder):
    """Exports a grammar for a tool and compares them; returns whether this succeeds, after printing a line about it."""
    files = {form: folder / f"{grammar.stem}.{form}" for form in TOOLS[tool].formats}
    title = f"{grammar.name} {tool}:"
    used = 0
    try:
        for form, path in files.items():
            command = ["compile", grammar, "--emit"] if form == "c" else ["export", grammar, "--format"]
            used += timed(options.program, "--quiet", *command, form, "-o", path)[1]
    except Refusal as refusal:
        required = {tool, grammar.name, f"{grammar.name}/{tool}"} & set(options.require)
        print(f"{'BAD ' if required else 'none'} {title} cannot be expressed: {refusal}", flush=True)
        return not required
    form = TOOLS[tool].formats[0]
    source = grammar if grammar.is_file() else grammar / "grammar.y"
    title += f" {counted(source, 'yacc')} -> {counted(files[form], form)} in {used:.2f} s;"
    try:
        good, text = compare(tool, files, texts, wanted, options.seconds)
    except Refusal as refusal:
        good, text = False, f"the tool refuses the file: {refusal}"
    print("ok  " if good else "BAD ", title, text, flush=True)
    return good


def try_grammar(options, grammar):
    """Compares all tools on one grammar; returns whether they agree."""
    with contextlib.ExitStack() as stack:
        try:
            texts = drawn(options.program, grammar, options.count, options.seed)
            wanted = expected(options.program, grammar, texts, Path(stack.enter_context(tempfile.TemporaryDirectory())))
        except Refusal as refusal:
            print(f"BAD  {grammar.name}: no texts to compare: {refusal}", flush=True)
            return False
        good = True
        for tool in options.tools:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            good &= try_tool(options, grammar, tool, texts, wanted, folder)
            if options.keep:
                for form in TOOLS[tool].formats:
                    for path in folder.glob(f"*.{form}"):
                        shutil.copy(path, options.keep)
        return good


def found(name):
    """The grammar that a name or a path means."""
    for path in [Path(name), *(folder / name for folder in GRAMMARS)]:
        if path.is_file() or (path / "grammar.y").is_file():
            return path.resolve()
    sys.exit(f"{name}: no such grammar; give a path, or a name in testdata")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=lambda path: Path(path).resolve())
    usual = [tool for tool in TOOLS if tool != "antlr"]
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=usual, help="(default: all but antlr)")
    everything = [str(path.parent) for folder in GRAMMARS for path in sorted(folder.glob("*/grammar.y"))]
    grammars_help = "names in testdata, or paths (default: all in testdata)"
    parser.add_argument("--grammars", nargs="+", default=everything, metavar="NAME", help=grammars_help)
    require_help = "grammars, tools or GRAMMAR/TOOL whose export may not be refused"
    parser.add_argument("--require", nargs="+", default=[], metavar="NAME", help=require_help)
    parser.add_argument("--count", type=int, default=300, help="texts for each grammar (default: 300)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=120, help="time for each grammar and tool (default: 120)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the exported files here")
    options = parser.parse_args()
    lacking = [message for message in map(missing, options.tools) if message]
    # An export that the program does not know is not a grammar that cannot be expressed.
    known = called(options.program, "export", "--help")
    forms = {form for tool in options.tools for form in TOOLS[tool].formats} - {"c"}
    lacking += [f"{options.program} does not export {form}" for form in sorted(forms) if form not in known]
    if lacking:
        sys.exit("\n".join(lacking))
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    if "xgrammar" in options.tools:
        __import__("xgrammar")  # takes seconds, so once, and not in each process
    outcomes = [try_grammar(options, found(name)) for name in options.grammars]
    sys.exit(0 if all(outcomes) else 1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures what a query costs `echostack infer` beyond the program that it starts for each text.

    benchmarks/infer/started.py ECHOSTACK [QUERIES]

For each of three programs, it runs `echostack infer` with one worker until it has asked so many texts, and then starts the
bare program on files with the same texts. CPU times of `infer` are its own and those of all programs that it has started.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAMS = {
    "grep": ["grep", "-q", "-x", "-E", r"[0-9]+(,[0-9]+)*"],
    "python3 -S -I": ["python3", "-S", "-I", "-c", "import json, sys; json.loads(open(sys.argv[1]).read())"],
    "python3": ["python3", "-c", "import json, sys; json.loads(open(sys.argv[1]).read())"],
}


def spent(run):
    """The CPU time of all children that a function starts and waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def start(words):
    nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    os.waitpid(os.posix_spawnp(words[0], words, os.environ, file_actions=nowhere), 0)


def main():
    echostack, queries = str(Path(sys.argv[1]).resolve()), int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    print("| program | queries | bare, ms of CPU per text | infer, ms of CPU per query | ratio |\n|---|---|---|---|---|")
    for name, words in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as root:
            out, texts, examples = Path(root) / "out", Path(root) / "texts", Path(root) / "examples"
            texts.mkdir()
            examples.mkdir()
            for at, text in enumerate(["1", "12,3", "4,5,60"] if name == "grep" else ["1", "[]", "[1, 2]", '"a"']):
                (examples / str(at)).write_text(text)
            quoted = " ".join(f"'{word}'" for word in words)
            command = [echostack, "infer", "--examples", examples, "--oracle", f"{quoted} {{}}", "--workers", "1", "--threads",
                       "1", "--quiet", "--queries", str(queries), "-o", out]
            inferring = spent(lambda: subprocess.run(command, **quiet, check=False))
            asked = [json.loads(line)[0] for line in (out / "answers.jsonl").read_text().strip("\n").split("\n")[1:]]
            for at, text in enumerate(asked):
                (texts / str(at)).write_text(text)
            count = len(asked)
            bare = spent(lambda: [start([*words, str(texts / str(at))]) for at in range(count)])
            print(f"| `{name}` | {count} | {1000 * bare / count:.2f} | {1000 * inferring / count:.2f} | {inferring / bare:.2f} |")


if __name__ == "__main__":
    main()

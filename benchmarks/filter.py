#!/usr/bin/env python3
"""Runs `echostack check` as a filter for a long time, and watches its memory.

filter.py ECHOSTACK MODEL --task TASK (--tokens N | --minutes N) [--seed N]

Words of the task, a tenth of them damaged, are written to `check --chars --failures` again and again. The memory of the
process (RSS) is read every second. Prints the number of tokens and words, the rejected words, CPU seconds, and the memory
after the first tenth of the run and at the end.
"""

import argparse
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

BLOCK = 1 << 26


def block(echostack, task, seed):
    """Returns lines of words, and how many tokens, words and damaged words they have."""
    command = [echostack, "sample", f"task:{task}", "--count", "20000", "--max-length", "60", "--seed", str(seed), "--chars"]
    words = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
    letters = sorted(set("".join(words)))
    random.seed(seed)
    lines = []
    size = 0
    while size < BLOCK:
        word = random.choice(words)
        if random.random() < 0.1:
            at = random.randrange(len(word) + 1)
            word = word[:at] + random.choice(letters) + word[at + random.randrange(2) :]
        lines.append(word)
        size += len(word) + 1
    return ("\n".join(lines) + "\n").encode(), size - len(lines), len(lines)


def memory(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("echostack")
    parser.add_argument("model")
    parser.add_argument("--task", required=True)
    parser.add_argument("--tokens", type=float, default=0)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    text, tokens, words = block(options.echostack, options.task, options.seed)
    command = [options.echostack, "check", options.model, "-", "--chars", "--failures"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    rejected = [0]

    def count():
        while part := process.stdout.read(1 << 20):
            rejected[0] += part.count(b"\n")

    samples = []

    def watch():
        while process.poll() is None:
            try:
                samples.append(memory(process.pid))
            except OSError:
                return
            time.sleep(1)

    for work in (count, watch):
        threading.Thread(target=work, daemon=True).start()
    start, written = time.monotonic(), 0
    step = 1 << 20
    while written * tokens / len(text) < options.tokens or time.monotonic() - start < 60 * options.minutes:
        for at in range(0, len(text), step):
            process.stdin.write(text[at : at + step])
            if options.minutes and time.monotonic() - start >= 60 * options.minutes:
                break
        written += min(at + step, len(text))
    process.stdin.close()
    cpu = None
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        cpu = (int(fields[11]) + int(fields[12])) / 100
    except OSError:
        pass
    process.wait()
    early, late = samples[len(samples) // 10], samples[-2] if len(samples) > 1 else samples[-1]
    print(
        f"{written * tokens / len(text):.3g} tokens, {written * words / len(text):.3g} words, {rejected[0]} lines of output, "
        f"{time.monotonic() - start:.0f} s, {cpu} CPU s; memory after a tenth {early} kB, at the end {late} kB, at most {max(samples)} kB"
    )
    if late > 1.02 * early + 1024:
        sys.exit("the memory grows")


main()

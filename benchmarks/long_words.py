"""Times two builds of `echostack check` on long words from a pipe, in turns, and compares what they say of wrong words.

    long_words.py PROGRAM OTHER FOLDER [MEGABYTES] [TURNS]

Writes words of Dyck3 and of JSON to FOLDER: a long one for the times, as tokens between blanks, as characters, and as a
JSON text; and 130 of 5,000 to 2,000,000 tokens for each language, three of four of them wrong, on which the outputs must
be the same. The figures are CPU seconds of `check`: the median of all turns, with the smallest and the largest.
"""

import json
import random
import resource
import subprocess
import sys
from pathlib import Path

from speed import spread

DYCK = ["()", "[]", "{}"]
GRAMMAR = Path(__file__).parents[1] / "testdata/grammars/json"


def dyck(tokens: int, draw: random.Random) -> list[str]:
    word, closing = [], []
    while len(word) < tokens:
        if closing and (draw.random() < 0.5 or len(closing) > 1000):
            word.append(closing.pop())
        else:
            opening, last = draw.choice(DYCK)
            word.append(opening)
            closing.append(last)
    return word + closing[::-1]


def value(depth: int, draw: random.Random) -> list[str]:
    kind = draw.random()
    if depth > 4 or kind < 0.5:
        return [draw.choice("ns")]
    parts = [value(depth + 1, draw) for _ in range(draw.randint(0, 5))]
    if kind < 0.75:
        return ["[", *separated(parts), "]"]
    return ["{", *separated([["k", ":", *part] for part in parts]), "}"]


def separated(parts: list[list[str]]) -> list[str]:
    return [token for number, part in enumerate(parts) for token in ([","] if number else []) + part]


def values(tokens: int, draw: random.Random) -> list[str]:
    parts, length = [], 0
    while length < tokens:
        parts.append(value(0, draw))
        length += len(parts[-1]) + 1
    return ["[", *separated(parts), "]"]


def document(depth: int, draw: random.Random) -> object:
    kind = draw.random()
    if depth > 5 or kind < 0.4:
        return draw.choice([draw.randint(-(10**6), 10**6), draw.random(), "text " + "x" * draw.randint(0, 30), True, None])
    if kind < 0.7:
        return [document(depth + 1, draw) for _ in range(draw.randint(0, 6))]
    return {f"key{number}": document(depth + 1, draw) for number in range(draw.randint(0, 6))}


def wrong(word: list[str], draw: random.Random) -> list[str]:
    """Changes, cuts off or inserts something in three of four words."""
    place, token = draw.randrange(len(word)), draw.choice(word)
    return draw.choice([word, [*word[:place], token, *word[place + 1 :]], word[:place], [*word[:place], token, *word[place:]]])


def check(program: str, table: Path, file: Path, *options: str) -> tuple[float, str]:
    """Returns the CPU time of `check`, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(["cat", file], stdout=subprocess.PIPE) as pipe:
        checked = subprocess.run([program, "check", table, *options, "-"], stdin=pipe.stdout, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)  # `cat` has not been waited for
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, checked.stdout


def main(program: str, other: str, folder: Path, megabytes: int, turns: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(0)
    for name, source in {"dyck3": ["task:dyck3"], "json": ["task:json"], "text": [GRAMMAR]}.items():
        model, table = folder / f"{name}.model", folder / f"{name}.table"
        subprocess.run([program, "learn", *source, "--quiet", "-o", model], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([program, "compile", model, "--quiet", "-o", table], check=True, stdout=subprocess.DEVNULL)
    word = dyck(1 << 20, draw)
    files = {"tokens": folder / "tokens", "chars": folder / "chars", "text": folder / "text.json"}
    for name, between in (("tokens", " "), ("chars", "")):
        part = between.join(word) + between
        files[name].write_text(part * (megabytes * 2**20 // len(part) + 1) + "\n")
    part = ",".join(json.dumps(document(0, draw)) for _ in range(20_000))
    files["text"].write_text("[" + ",".join([part] * (megabytes * 2**20 // len(part) + 1)) + "]")
    print(f"| | MB | {other} | {program} | ratio |\n|---|---|---|---|---|")
    for name, table, options in (("tokens", "dyck3", []), ("chars", "dyck3", ["--chars"]), ("text", "text", [])):
        times: dict[str, list[float]] = {program: [], other: []}
        for _ in range(turns):
            said = set()
            for one, seconds in times.items():
                taken, output = check(one, folder / f"{table}.table", files[name], *options)
                seconds.append(taken)
                said.add(output)
            assert len(said) == 1, said
        ratios = [before / now for before, now in zip(times[other], times[program])]
        size = files[name].stat().st_size / 1e6
        print(f"| {name} | {size:.0f} | {spread(times[other], '.2f')} | {spread(times[program], '.2f')} | {spread(ratios, '.2f')} |")
    for name, make in (("dyck3", dyck), ("json", values)):
        words = [wrong(make(draw.choice([5_000, 100_000, 1_000_000, 2_000_000]), draw), draw) for _ in range(130)]
        file = folder / f"{name}.words"
        file.write_text("".join("".join(word) + "\n" for word in words))
        outputs = [check(one, folder / f"{name}.table", file, "--chars")[1].splitlines() for one in (other, program)]
        different = sum(a != b for a, b in zip(*outputs)) + abs(len(outputs[0]) - len(outputs[1]))
        accepted = sum("accept" in line for line in outputs[0])
        print(f"{name}: {len(words)} words, {accepted} accepted, {sum(map(len, words))} tokens, {different} differences")


if __name__ == "__main__":
    numbers = [int(number) for number in sys.argv[4:]]
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), *(numbers + [200, 5][len(numbers) :]))

#!/usr/bin/env python3
"""Measures how much of a JSON parser in C is executed by texts of a grammar, and by random bytes of the same lengths.

    benchmarks/coverage.py ECHOSTACK [--texts 10000] [--folder FOLDER]

The parser is cJSON, from Debian's source package, which apt-get downloads into the folder. It is built with
gcc --coverage, reads all texts in one process, and gcov counts the branches of cJSON.c that were taken. A branch belongs to
the parser if any of the runs executes the function that it is in.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

DRIVER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cJSON.h"
/* Reads texts that begin with their lengths, and prints how many are accepted. */
int main(void) {
    unsigned length, accepted = 0, total = 0;
    while (scanf("%u", &length) == 1) {
        char *text = malloc(length + 1);
        getchar();
        if (fread(text, 1, length, stdin) != length) return 1;
        text[length] = 0;
        cJSON *value = cJSON_ParseWithOpts(text, 0, 1);
        accepted += value != 0;
        total++;
        cJSON_Delete(value);
        free(text);
    }
    printf("%u %u\n", accepted, total);
    return 0;
}
"""


def run(*command, **options):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, **options).stdout


def download(folder, package, sources):
    """Downloads a source package from where the system's packages come from. The system's own list stays as it is."""
    (folder / "lists/partial").mkdir(parents=True, exist_ok=True)
    own = folder / sources.name
    # Most systems list packages only. Both forms of the file begin a line with what is listed.
    own.write_text(re.sub(r"^(Types: *|)deb(?= |$)", r"\1deb-src", sources.read_text(), flags=re.MULTILINE))
    options = ["-o", f"Dir::State::Lists={folder}/lists", "-o", f"Dir::Etc::SourceList={own}",
               "-o", "Dir::Etc::SourceParts=/dev/null"]
    run("apt-get", *options, "update", cwd=folder)
    run("apt-get", *options, "source", package, cwd=folder)
    return next(path for path in sorted(folder.iterdir()) if path.is_dir() and path.name.startswith(package))


def measure(folder, source, name, texts):
    """Runs the parser on texts. Returns how many it accepts, and for each function the branches that were taken."""
    build = folder / name
    build.mkdir(exist_ok=True)
    for old in build.iterdir():
        old.unlink()
    (build / "driver.c").write_text(DRIVER)
    run("gcc", "-O0", "--coverage", f"-I{source}", source / "cJSON.c", "driver.c", "-o", "parser", "-lm", cwd=build)
    data = b"".join(b"%d\n%s\n" % (len(text), text) for text in texts)
    accepted, total = map(int, run("./parser", input=data, cwd=build).split())
    assert total == len(texts)
    found = [json.loads(line) for line in run("gcov", "-b", "-t", "-j", "parser-cJSON.gcda", cwd=build).splitlines()]
    lines = next(file["lines"] for one in found for file in one["files"] if file["file"].endswith("cJSON.c"))
    branches = {}
    for line in lines:
        for number, branch in enumerate(line["branches"]):
            key = (line.get("function_name"), line["line_number"], number)
            branches[key] = branch["count"] > 0
    executed = {line.get("function_name") for line in lines if line["count"] > 0}
    return accepted, branches, executed


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("echostack", type=Path)
    options.add_argument("--texts", type=int, default=10_000)
    options.add_argument("--folder", type=Path, help="where the source package is kept")
    options.add_argument("--sources", type=Path, default="/etc/apt/sources.list.d/debian.sources",
                         help="the system's list of packages, from whose sites the source package is downloaded")
    options = options.parse_args()
    grammar = Path(__file__).resolve().parent.parent / "testdata/grammars/json"
    folder = (options.folder or Path(tempfile.mkdtemp())).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    present = [path for path in folder.glob("cjson-*") if path.is_dir()]
    source = present[0] if present else download(folder, "cjson", options.sources)

    def drawn(*more):
        command = [options.echostack, "sample", grammar, "--texts", *more]
        return run(*command).split(b"\0")[:-1]

    valid = drawn("--count", options.texts)
    covering = drawn("--cover", "pairs")
    half = options.texts // 2
    mixed = valid[:half] + drawn("--count", options.texts - half, "--kind", "near-miss")
    generator = random.Random(0)
    noise = [bytes(generator.randrange(256) for _ in text) for text in valid]
    ascii_noise = [bytes(generator.randrange(32, 127) for _ in text) for text in valid]
    sets = {"covering texts": covering, "valid texts": valid, "half valid, half near misses": mixed,
            "random bytes": noise, "random ASCII": ascii_noise}
    results = {name: measure(folder, source, name.split(",")[0].replace(" ", "-"), texts)
               for name, texts in sets.items()}
    parser = set().union(*(executed for _, _, executed in results.values()))
    print(f"{source.name}, {len(parser)} functions executed")
    for name, (accepted, branches, _) in results.items():
        own = {key: taken for key, taken in branches.items() if key[0] in parser}
        share = sum(own.values()) / len(own)
        print(f"{name}: {len(sets[name])} texts, {accepted} accepted, {sum(own.values())} of {len(own)} branches "
              f"({share:.1%})")


if __name__ == "__main__":
    sys.exit(main())

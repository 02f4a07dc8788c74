#!/usr/bin/env python3
"""Real parsers of one format as programs that stay open: one JSON string per line in, true or false per line out.

    python3 parsers.py NAME           the parser with this name; without a name, lists them
    python3 parsers.py NAME --bytes   the same, for `compare --bytes`: each character of a line is a byte
    python3 parsers.py examples FORMAT FOLDER   writes the examples of `toml` or `yaml`

Each needs the package of its name from PyPI; `json` and `tomllib` are parts of Python.
"""

import json
import sys
from pathlib import Path

EXAMPLES = {
    "toml": ["a = 1", "b = \"x\"", "[t]\nk = true", "[[p]]\nq = 'r'", "x.y = -2.5", "n = [1, 2]", "o = { i = 1, j = \"s\" }", "d = 1979-05-27",
             "e = 1979-05-27T07:32:00Z", "f = 07:32:00", "# c\n", "m = \"\"\"a\nb\"\"\"", "h = 0xff", "g = 5e+2", "\"q r\" = \"\\n\\u00e9\""],
    "yaml": ["a: 1", "- x\n- y", "k:\n  l: m", "[1, 2]", "{a: b}", "'q'", "\"r\\n\"", "# c\nd: e", "? k\n: v", "--- a\n...", "|\n  t\n  u", ">\n  t\n",
             "&n x", "[&n 1, *n]", "!!str 1", "- - 1\n  - 2", "~"],
}


def load(name):
    """Returns the function that parses a text."""
    if name == "json":
        return json.loads
    if name == "orjson":
        import orjson
        return orjson.loads
    if name == "ujson":
        import ujson
        return ujson.loads
    if name == "simplejson":
        import simplejson
        return simplejson.loads
    if name == "rapidjson":
        import rapidjson
        return rapidjson.loads
    if name == "msgspec":
        import msgspec
        return msgspec.json.decode
    if name == "simdjson":
        import simdjson
        return lambda text: simdjson.loads(text)
    if name == "pyyaml":
        import yaml
        return lambda text: list(yaml.safe_load_all(text))
    if name == "ruamel":
        from ruamel.yaml import YAML
        return lambda text: list(YAML(typ="safe", pure=True).load_all(text))
    if name == "tomllib":
        import tomllib
        return tomllib.loads
    if name == "tomli":
        import tomli
        return tomli.loads
    if name == "tomlkit":
        import tomlkit
        return tomlkit.parse
    if name == "toml":
        import toml
        return toml.loads
    if name == "rtoml":
        import rtoml
        return rtoml.loads
    if name == "pytomlpp":
        import pytomlpp
        return pytomlpp.loads
    sys.exit(f"there is no parser {name}")


NAMES = "json orjson ujson simplejson rapidjson msgspec simdjson pyyaml ruamel tomllib tomli tomlkit toml rtoml pytomlpp".split()


def main():
    if len(sys.argv) < 2:
        print("\n".join(NAMES))
        return
    if sys.argv[1] == "examples":
        folder = Path(sys.argv[3])
        folder.mkdir(parents=True)
        for number, text in enumerate(EXAMPLES[sys.argv[2]]):
            (folder / f"{number:02}").write_text(text)
        return
    parse, by_bytes = load(sys.argv[1]), "--bytes" in sys.argv
    for line in sys.stdin:
        text = json.loads(line)
        try:
            parse(text.encode("latin-1") if by_bytes else text)
            valid = True
        except Exception:  # every exception of a parser means that it refuses the text
            valid = False
        print("true" if valid else "false", flush=True)


if __name__ == "__main__":
    main()

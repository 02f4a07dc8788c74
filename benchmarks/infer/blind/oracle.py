#!/usr/bin/env python3
"""Oracles that stay open: read one text per line, as a JSON string, and write true or false.

    python3 oracle.py toml          does Python's tomllib read it?
    python3 oracle.py toml-syntax   the same, but keys may be given twice: tomllib forgets what it has read
    python3 oracle.py ini           does Python's configparser read it?
    python3 oracle.py ini-syntax    the same with strict=False: keys and sections may be given twice
"""

import configparser
import json
import sys
import tomllib
import tomllib._parser


def is_toml(text):
    try:
        tomllib.loads(text)
    except ValueError:  # also a number or a date out of range
        return False
    return True


def forget_keys():
    """Makes tomllib forget the tables and keys that it has read. What is left is the syntax."""
    parser = tomllib._parser
    parser.Flags.is_ = lambda self, key, flag: False
    parser.NestedDict.get_or_create_nest = lambda self, key, *, access_lists=True: {}
    parser.NestedDict.append_nest_to_list = lambda self, key: None


def is_ini(text, strict):
    try:
        configparser.ConfigParser(strict=strict).read_string(text)
    except configparser.Error:
        return False
    return True


ORACLES = {
    "toml": is_toml,
    "toml-syntax": is_toml,
    "ini": lambda text: is_ini(text, True),
    "ini-syntax": lambda text: is_ini(text, False),
}

if __name__ == "__main__":
    name = sys.argv[1]
    if name == "toml-syntax":
        forget_keys()
    for line in sys.stdin:
        print("true" if ORACLES[name](json.loads(line)) else "false", flush=True)

#!/usr/bin/env python3
"""Oracles that stay open: read one text per line, as a JSON string, and write true or false.

    python3 oracle.py toml          does Python's tomllib read it?
    python3 oracle.py toml-syntax   the same, but keys may be given twice: tomllib forgets what it has read
    python3 oracle.py ini           does Python's configparser read it?
    python3 oracle.py ini-syntax    the same with strict=False: keys and sections may be given twice
    python3 oracle.py tinyc         is it a statement of tiny C, where variables are single letters?
"""

import configparser
import json
import re
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


class TinyC:
    """A recursive descent parser of tiny C."""

    def __init__(self, text):
        words = re.findall(r"[a-z]+|[0-9]+|[ \n]|.", text, re.DOTALL)
        self.words = [word for word in words if word not in " \n"] + ["end"]
        self.at = 0

    def take(self, *words):
        found = self.words[self.at] in words
        self.at += found
        return found

    def need(self, *words):
        if not self.take(*words):
            raise ValueError(f"expected {words}")

    def statement(self):
        if self.take("if"):
            self.group()
            self.statement()
            if self.take("else"):
                self.statement()
        elif self.take("while"):
            self.group()
            self.statement()
        elif self.take("do"):
            self.statement()
            self.need("while")
            self.group()
            self.need(";")
        elif self.take("{"):
            while not self.take("}"):
                self.statement()
        elif not self.take(";"):
            self.expression()
            self.need(";")

    def group(self):
        self.need("(")
        self.expression()
        self.need(")")

    def expression(self):
        if re.fullmatch("[a-z]", self.words[self.at]) and self.words[self.at + 1] == "=":
            self.at += 2
            self.expression()
            return
        self.sum()
        if self.take("<"):
            self.sum()

    def sum(self):
        self.term()
        while self.take("+", "-"):
            self.term()

    def term(self):
        if re.fullmatch("[a-z]|[0-9]+", self.words[self.at]):
            self.at += 1
        else:
            self.group()


def is_tinyc(text):
    parser = TinyC(text)
    try:
        parser.statement()
    except (ValueError, RecursionError):
        return False
    return parser.at == len(parser.words) - 1


ORACLES = {
    "tinyc": is_tinyc,
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

"""A configuration format: sections, keys with values, lists, and comments."""

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGITS = "0123456789"
WORDS = ("true", "false", "none")


class Reader:
    def __init__(self, text):
        self.text = text
        self.at = 0

    def peek(self):
        return self.text[self.at] if self.at < len(self.text) else ""

    def skip(self):
        while self.peek() in (" ", "\t"):
            self.at += 1

    def run(self, letters):
        start = self.at
        while self.peek() != "" and self.peek() in letters:
            self.at += 1
        return self.text[start:self.at]

    def need(self, letter):
        if self.peek() != letter:
            raise ValueError(f"expected {letter} at {self.at}")
        self.at += 1


def key(reader):
    if reader.peek() == "" or reader.peek() not in LETTERS:
        raise ValueError(f"expected a key at {reader.at}")
    reader.run(LETTERS + DIGITS + "_-")
    if reader.peek() == ".":
        reader.at += 1
        key(reader)


def number(reader):
    if reader.peek() == "-":
        reader.at += 1
    whole = reader.run(DIGITS)
    if whole == "" or (len(whole) > 1 and whole[0] == "0"):
        raise ValueError(f"not a number at {reader.at}")
    if len(whole) > 9:
        raise ValueError(f"the number is too large at {reader.at}")
    if reader.peek() == ".":
        reader.at += 1
        if reader.run(DIGITS) == "":
            raise ValueError(f"expected a digit at {reader.at}")
    reader.run("%")


def string(reader):
    quote = reader.peek()
    reader.need(quote)
    while reader.peek() != quote:
        if reader.peek() == "" or reader.peek() == "\n":
            raise ValueError(f"the string does not end at {reader.at}")
        if reader.peek() == "\\":
            reader.at += 1
            if reader.peek() == "" or reader.peek() not in "nt\\'\"":
                raise ValueError(f"unknown escape at {reader.at}")
        reader.at += 1
    reader.need(quote)


def items(reader):
    reader.need("[")
    reader.skip()
    while reader.peek() != "]":
        value(reader)
        reader.skip()
        if reader.peek() != ",":
            break
        reader.at += 1
        reader.skip()
    reader.need("]")


def value(reader):
    first = reader.peek()
    if first == "[":
        items(reader)
    elif first == '"' or first == "'":
        string(reader)
    elif first != "" and first in LETTERS:
        if reader.run(LETTERS) not in WORDS:
            raise ValueError(f"unknown word at {reader.at}")
    else:
        number(reader)


def comment(reader):
    if reader.peek() == "#":
        while reader.peek() not in ("", "\n"):
            reader.at += 1


def section(reader):
    reader.need("[")
    key(reader)
    reader.need("]")


def entry(reader):
    key(reader)
    reader.skip()
    if reader.peek() not in ("=", ":"):
        raise ValueError(f"expected = at {reader.at}")
    reader.at += 1
    reader.skip()
    value(reader)


def line(reader):
    reader.skip()
    if reader.peek() == "[":
        section(reader)
    elif reader.peek() not in ("", "#", "\n"):
        entry(reader)
    reader.skip()
    comment(reader)


def parse(text):
    reader = Reader(text)
    line(reader)
    while reader.peek() == "\n":
        reader.at += 1
        line(reader)
    if reader.at != len(text):
        raise ValueError(f"unexpected {reader.peek()} at {reader.at}")

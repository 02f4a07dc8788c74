"""Arithmetic: sums and products of numbers, names, calls and parentheses, with signs and powers."""


class Reader:
    def __init__(self, text):
        self.text = text
        self.at = 0

    def peek(self):
        return self.text[self.at] if self.at < len(self.text) else ""

    def skip(self):
        while self.peek() in (" ", "\t"):
            self.at += 1

    def take(self, letters):
        self.skip()
        if self.peek() == "" or self.peek() not in letters:
            return False
        self.at += 1
        return True

    def need(self, letters):
        if not self.take(letters):
            raise ValueError(f"expected one of {letters} at {self.at}")


def digits(reader):
    start = reader.at
    while reader.peek() != "" and reader.peek() in "0123456789":
        reader.at += 1
    if reader.at == start:
        raise ValueError(f"expected a digit at {reader.at}")


def number(reader):
    digits(reader)
    if reader.peek() == ".":
        reader.at += 1
        digits(reader)
    if reader.peek() != "" and reader.peek() in "eE":
        reader.at += 1
        if reader.peek() != "" and reader.peek() in "+-":
            reader.at += 1
        digits(reader)


def name(reader):
    while reader.peek().isascii() and (reader.peek().isalnum() or reader.peek() == "_"):
        reader.at += 1


def arguments(reader):
    if reader.take(")"):
        return
    expression(reader)
    while reader.take(","):
        expression(reader)
    reader.need(")")


def atom(reader):
    reader.skip()
    first = reader.peek()
    if first == "":
        raise ValueError("unexpected end")
    if first in "0123456789":
        number(reader)
    elif first.isascii() and (first.isalpha() or first == "_"):
        name(reader)
        if reader.take("("):
            arguments(reader)
    else:
        reader.need("(")
        expression(reader)
        reader.need(")")


def power(reader):
    atom(reader)
    if reader.take("^"):
        unary(reader)


def unary(reader):
    while reader.take("+-"):
        pass
    power(reader)


def product(reader):
    unary(reader)
    while reader.take("*/%"):
        unary(reader)


def expression(reader):
    product(reader)
    while reader.take("+-"):
        product(reader)


def parse(text):
    reader = Reader(text)
    expression(reader)
    reader.skip()
    if reader.at != len(text):
        raise ValueError(f"unexpected {reader.peek()} at {reader.at}")

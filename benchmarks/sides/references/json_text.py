"""JSON, as RFC 8259 defines it."""

BLANK = " \t\n\r"
DIGITS = "0123456789"
HEX = "0123456789abcdefABCDEF"
ESCAPES = '"\\/bfnrt'
MOST = 200


class Reader:
    def __init__(self, text):
        self.text = text
        self.at = 0
        self.depth = 0

    def peek(self):
        return self.text[self.at] if self.at < len(self.text) else ""

    def skip(self):
        while self.peek() != "" and self.peek() in BLANK:
            self.at += 1

    def need(self, word):
        if not self.text.startswith(word, self.at):
            raise ValueError(f"expected {word} at {self.at}")
        self.at += len(word)


def digits(reader):
    if reader.peek() == "" or reader.peek() not in DIGITS:
        raise ValueError(f"expected a digit at {reader.at}")
    while reader.peek() != "" and reader.peek() in DIGITS:
        reader.at += 1


def number(reader):
    if reader.peek() == "-":
        reader.at += 1
    if reader.peek() == "0":
        reader.at += 1
    else:
        digits(reader)
    if reader.peek() == ".":
        reader.at += 1
        digits(reader)
    if reader.peek() != "" and reader.peek() in "eE":
        reader.at += 1
        if reader.peek() != "" and reader.peek() in "+-":
            reader.at += 1
        digits(reader)


def escape(reader):
    letter = reader.peek()
    reader.at += 1
    if letter == "u":
        for _ in range(4):
            if reader.peek() == "" or reader.peek() not in HEX:
                raise ValueError(f"expected a hexadecimal digit at {reader.at}")
            reader.at += 1
    elif letter == "" or letter not in ESCAPES:
        raise ValueError(f"unknown escape at {reader.at}")


def string(reader):
    reader.need('"')
    while reader.peek() != '"':
        letter = reader.peek()
        if letter == "" or letter < " ":
            raise ValueError(f"unexpected character at {reader.at}")
        reader.at += 1
        if letter == "\\":
            escape(reader)
    reader.at += 1


def array(reader):
    reader.need("[")
    reader.skip()
    if reader.peek() == "]":
        reader.at += 1
        return
    while True:
        value(reader)
        if reader.peek() != ",":
            break
        reader.at += 1
    reader.need("]")


def member(reader):
    reader.skip()
    string(reader)
    reader.skip()
    reader.need(":")
    value(reader)


def members(reader):
    reader.need("{")
    reader.skip()
    if reader.peek() == "}":
        reader.at += 1
        return
    while True:
        member(reader)
        if reader.peek() != ",":
            break
        reader.at += 1
    reader.need("}")


def value(reader):
    reader.depth += 1
    if reader.depth > MOST:
        raise ValueError("too deep")
    reader.skip()
    first = reader.peek()
    if first == "{":
        members(reader)
    elif first == "[":
        array(reader)
    elif first == '"':
        string(reader)
    elif first == "t":
        reader.need("true")
    elif first == "f":
        reader.need("false")
    elif first == "n":
        reader.need("null")
    else:
        number(reader)
    reader.skip()
    reader.depth -= 1


def parse(text):
    reader = Reader(text)
    value(reader)
    if reader.at != len(text):
        raise ValueError(f"unexpected {reader.peek()} at {reader.at}")

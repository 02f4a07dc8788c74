"""Writes traces of a hand-written parser of a log format, half of them for damaged logs.

    python3 log_traces.py COUNT SEED > traces.jsonl

A log consists of lines such as

    12:00:01 ERROR "disk full" disk=sda1 host[name=db3 rack[row=7 unit=2]]

The parser is an ordinary recursive descent parser, with three calls added to it: `shift` where it consumes a token,
`reduce` where it has finished with a part of the log, and `refuse` where it raises an error.
"""
import json
import random
import sys

TERMINALS = ["TIME", "LEVEL", "TEXT", "PAIR", "OPEN", "CLOSE", "NEWLINE"]
NONTERMINALS = ["Log", "Fields"]
END = None


class Refused(Exception):
    """The log is wrong at the next token."""


class Recorder:
    """Turns what a parser does into the steps of a trace."""

    def __init__(self):
        self.stack, self.steps, self.reductions = [], [], []

    def reduce(self, count, symbol):
        """The topmost `count` symbols of the stack are replaced by a nonterminal."""
        del self.stack[len(self.stack) - count:]
        self.stack.append(symbol)
        self.reductions.append([count, symbol])

    def step(self, shift):
        # The log read so far is complete if the stack consists of the start symbol.
        complete = self.stack == ["Log"]
        self.steps.append({"reductions": self.reductions, "output": [int(complete)], "shift": shift})
        self.reductions = []

    def shift(self, token):
        """The next token is read."""
        self.step(True)
        self.stack.append(token)

    def refuse(self):
        """The next token cannot follow."""
        self.step(False)


class Parser:
    def __init__(self, tokens, recorder):
        self.tokens, self.recorder = [*tokens, END], recorder

    def peek(self):
        return self.tokens[0]

    def expect(self, wanted):
        if self.peek() != wanted:
            raise Refused
        self.recorder.shift(self.tokens.pop(0))

    def log(self):
        self.recorder.reduce(0, "Log")  # a log begins without lines
        while self.peek() != END:
            self.line()

    def line(self):
        for part in ("TIME", "LEVEL", "TEXT"):
            self.expect(part)
        self.fields()
        self.expect("NEWLINE")
        self.recorder.reduce(6, "Log")  # Log TIME LEVEL TEXT Fields NEWLINE

    def fields(self):
        self.recorder.reduce(0, "Fields")  # a list of fields begins empty
        while self.peek() in ("PAIR", "OPEN"):
            if self.peek() == "PAIR":
                self.expect("PAIR")
                self.recorder.reduce(2, "Fields")  # Fields PAIR
            else:
                self.expect("OPEN")
                self.fields()
                self.expect("CLOSE")
                self.recorder.reduce(4, "Fields")  # Fields OPEN Fields CLOSE


def trace(tokens):
    """Returns the steps of the parser on a sequence of tokens."""
    recorder = Recorder()
    try:
        Parser(tokens, recorder).log()
        recorder.step(False)  # the end of the log
    except Refused:
        recorder.refuse()
    return recorder.steps


def random_fields(depth):
    tokens = []
    for _ in range(random.randrange(4)):
        tokens += ["PAIR"] if depth == 0 or random.random() < 0.6 else ["OPEN", *random_fields(depth - 1), "CLOSE"]
    return tokens


def random_log():
    tokens = []
    for _ in range(random.randrange(4)):
        tokens += ["TIME", "LEVEL", "TEXT", *random_fields(3), "NEWLINE"]
    return tokens


def damaged(tokens):
    """Returns a copy in which a token is left out, added or replaced. It may be right nevertheless."""
    tokens, place = list(tokens), random.randrange(len(tokens) + 1)
    change = random.randrange(3)
    if change != 1:
        del tokens[place:place + 1]
    if change != 0:
        tokens.insert(place, random.choice(TERMINALS))
    return tokens


def main():
    count, seed = map(int, sys.argv[1:])
    random.seed(seed)
    print(json.dumps({"echostack": "traces", "version": 1, "terminals": TERMINALS, "nonterminals": NONTERMINALS}))
    for number in range(count):
        tokens = random_log()
        if number % 2 == 1:
            tokens = damaged(tokens)
        print(json.dumps({"source": f"log {number}", "word": tokens, "steps": trace(tokens)}))


if __name__ == "__main__":
    main()

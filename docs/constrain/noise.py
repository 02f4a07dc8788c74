"""A stand-in for a language model: noise, with a token for each byte and one that ends the text.

It knows nothing, so whatever is right about its texts comes from the grammar.
"""

import sys

import numpy

END = 256
VOCABULARY = [bytes([byte]) for byte in range(256)] + [b"<end>"]


class Noise:
    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        # It likes what is printed, brackets more, and likes to end lines and texts.
        self.likes = numpy.zeros(len(VOCABULARY))
        self.likes[ord(" ") : ord("~") + 1] = 1.5
        self.likes[list(b"()[]{}")] = 2.5
        self.likes[[ord("\n"), END]] = 2.5

    def choose(self, mask):
        """Returns the token with the highest score among those that a mask allows, of one bit per token."""
        scores = self.random.normal(size=len(VOCABULARY)) + self.likes
        allowed = numpy.unpackbits(mask.view(numpy.uint8), bitorder="little")[: len(VOCABULARY)]
        return int(numpy.argmax(numpy.where(allowed, scores, -numpy.inf)))


def finish(tokens, limit):
    """Prints what was written; exits with 1 if the limit cut it off."""
    complete = tokens[-1:] == [END]
    sys.stdout.buffer.write(b"".join(VOCABULARY[token] for token in tokens if token != END))
    sys.stdout.flush()
    sys.exit(0 if complete else f"cut off after {limit} tokens: this is only the beginning of a text")

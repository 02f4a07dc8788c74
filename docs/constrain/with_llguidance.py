"""Writes a text of a grammar, one token at a time, with llguidance: with_llguidance.py GRAMMAR SEED LIMIT"""

import sys

import llguidance
import llguidance.numpy
from noise import END, VOCABULARY, Noise, finish


class Tokenizer:
    """What llguidance wants to know of a tokenizer. For one of Hugging Face: llguidance.hf.from_tokenizer."""

    tokens, eos_token_id, bos_token_id, special_token_ids = VOCABULARY, END, None, [END]

    def __call__(self, text):
        return list(text if isinstance(text, bytes) else text.encode())


path, seed, limit = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open(path, encoding="utf-8") as file:
    grammar = llguidance.LLMatcher.grammar_from_lark(file.read())
tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Tokenizer()))
matcher = llguidance.LLMatcher(tokenizer, grammar)
mask = llguidance.numpy.allocate_token_bitmask(1, tokenizer.vocab_size)

model, tokens = Noise(seed), []
while len(tokens) < limit and tokens[-1:] != [END]:
    llguidance.numpy.fill_next_token_bitmask(matcher, mask, 0)
    # An error, such as a grammar that is too much work, is not an exception. The mask then allows only the end.
    if matcher.get_error():
        sys.exit(matcher.get_error())
    # With a model on PyTorch: llguidance.torch.apply_token_bitmask_inplace(logits, mask), then sample as usual.
    token = model.choose(mask)
    matcher.consume_token(token)
    tokens.append(token)
finish(tokens, limit)

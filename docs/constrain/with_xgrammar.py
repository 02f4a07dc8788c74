"""Writes a text of a grammar, one token at a time, with xgrammar: with_xgrammar.py GRAMMAR SEED LIMIT"""

import sys

import xgrammar
from noise import END, VOCABULARY, Noise, finish

path, seed, limit = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open(path, encoding="utf-8") as file:
    grammar = xgrammar.Grammar.from_ebnf(file.read())
# For a tokenizer of Hugging Face: xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=...)
vocabulary = xgrammar.TokenizerInfo(VOCABULARY, stop_token_ids=[END])
matcher = xgrammar.GrammarMatcher(xgrammar.GrammarCompiler(vocabulary).compile_grammar(grammar))
mask = xgrammar.allocate_token_bitmask(1, vocabulary.vocab_size)

model, tokens = Noise(seed), []
while len(tokens) < limit and tokens[-1:] != [END]:
    # If every token is allowed, the mask is not written.
    if not matcher.fill_next_token_bitmask(mask):
        mask.fill_(-1)
    # With a model on PyTorch: xgrammar.apply_token_bitmask_inplace(logits, mask), then sample as usual.
    token = model.choose(mask.numpy()[0])
    matcher.accept_token(token)
    tokens.append(token)
finish(tokens, limit)

"""Lets a model in llama.cpp write a text of a grammar: with_llamacpp.py GRAMMAR MODEL.gguf PROMPT LIMIT"""

import sys

import xllamacpp

path, model, prompt, limit = sys.argv[1:]
parameters = xllamacpp.CommonParams()
parameters.model.path = model
parameters.n_ctx = 2048
server = xllamacpp.Server(parameters)
with open(path, encoding="utf-8") as file:
    asked = {"prompt": prompt, "grammar": file.read(), "max_tokens": int(limit)}
answer = server.handle_completions(asked)
if "error" in answer:
    sys.exit(answer["error"]["message"])
print(answer["choices"][0]["text"], end="", flush=True)
if answer["choices"][0]["finish_reason"] == "length":
    sys.exit(f"cut off after {limit} tokens: this is only the beginning of a text")

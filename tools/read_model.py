"""Reads a model file with the plain safetensors package and computes one decision as described in docs/format.md.

Usage: read_model.py MODEL. Exits with 1 if the file is not what the documentation promises.
"""
import json
import sys

import numpy as np
from safetensors import safe_open


def main():
    with safe_open(sys.argv[1], "numpy") as model:
        header = json.loads(model.metadata()["echostack"])
        tensors = {name: model.get_tensor(name) for name in model.keys()}
    assert header["version"] == 1, header["version"]
    neurons = header["reservoir"]["neurons"]
    assert tensors["centres.stack"].shape[1] == neurons
    # The votes of the pop readout for the empty stack without input, where h and g are 0.
    kernel = int(tensors["pop.kernel"][0])
    gamma = tensors[f"kernel{kernel}.gamma"][0]
    factors = []
    for side in ("input", "stack"):
        centers = tensors[f"centres.{side}"][tensors[f"kernel{kernel}.{side}"]]
        factors.append(np.exp(-gamma * (centers**2).sum(1)))
    support = tensors[f"kernel{kernel}.support"]
    values = factors[0][support[:, 0]] * factors[1][support[:, 1]]
    terms = tensors["pop.weights"] * values[tensors["pop.support"]]
    ends = np.cumsum(tensors["pop.counts"])
    sums = [part.sum() for part in np.split(terms, ends[:-1])] + tensors["pop.intercepts"]
    classes = header["actions"]["separate"]["pop"]
    pairs = [(a, b) for a in range(len(classes)) for b in range(a + 1, len(classes))]
    votes = np.zeros(len(classes), int)
    for (a, b), value in zip(pairs, sums):
        votes[a if value > 0 else b] += 1
    pop = classes[int(votes.argmax())]
    print(f"{len(tensors)} tensors, {neurons} neurons; on the empty stack pop {pop}")
    assert pop == 0, "nothing can be popped from an empty stack"


main()

"""Forges certificates and checks that tools/recheck refuses every one of them.

Usage: python tools/recheck_forgeries.py MODEL AUTOMATON CERTIFICATE [--count N] [--seed N]

The given certificate must be a true one. Four kinds of forgeries are made from it:
- something is missing: any one entry is left out, a claim is moved to a shorter stack, or a completion to the front;
- the header is changed: another version, arithmetic or digest;
- the automaton is replaced by one that accepts other words, with the digest recomputed;
- the machine is replaced by one that answers differently, also with the digest recomputed: two classes are swapped, or,
  if the machine was constructed with a random reservoir and its first terminal can be stacked without limit, it goes
  wrong only after enough of these terminals.
Forgeries of the last two kinds make a false claim, whatever their numbers are. In some of them, numbers are changed at
random. Others contain everything that can be had without lying, namely closed configurations and cells with the right
answers, so only the bounds can refuse them. The automaton must come without viable stacks, which would have to be
forged as well.
"""
import argparse
import collections
import copy
import importlib.util
import itertools
import json
import random
import sys
import time
from array import array
from pathlib import Path

HERE = Path(__file__).parent / "recheck"
sys.path.insert(0, str(HERE))
spec = importlib.util.spec_from_file_location("recheck", HERE / "__main__.py")
recheck = importlib.util.module_from_spec(spec)
spec.loader.exec_module(recheck)

LISTS = ("elements", "controls", "places", "heads", "unders", "cells")


def accepts(automaton, word):
    """Returns whether the rules accept a word, trying them one after the other."""
    stack = []
    for ahead in [*word, {"end": True}]:
        for _ in range(50):
            for rule in automaton["rules"]:
                own = rule["suffix"]
                ends = stack[len(stack) - len(own):] == own and len(own) <= len(stack)
                if ends and rule["lookahead"] in (None, ahead) and (not rule.get("anchored") or len(own) == len(stack)):
                    break
            else:
                break
            if rule["pop"] > len(stack):
                return False
            stack = stack[:len(stack) - rule["pop"]] + [rule["push"]]
        else:
            return False
        stack.append(ahead)
    return len(stack) == 2 and stack[0] in automaton["accepting"]


def other_automaton(automaton, rng):
    """Returns a copy of the automaton with one change that makes it accept other words."""
    words = [word for length in range(7) for word in itertools.product(automaton["terminals"], repeat=length)][:3000]
    symbols = automaton["terminals"] + automaton["nonterminals"]
    right = [accepts(automaton, word) for word in words]
    while True:
        other = copy.deepcopy(automaton)
        rule = rng.choice(other["rules"])
        change = rng.randrange(6)
        if change == 0:
            other["rules"].remove(rule)
        elif change == 1:
            rule["pop"] = max(0, rule["pop"] + rng.choice((-1, 1)))
        elif change == 2:
            rule["lookahead"] = rng.choice([None, {"end": True}, *automaton["terminals"]])
        elif change == 3:
            rule["suffix"] = rule["suffix"][1:]
        elif change == 4 and rule["suffix"]:
            rule["suffix"][rng.randrange(len(rule["suffix"]))] = rng.choice(symbols)
        else:
            rng.shuffle(other["rules"])
        if [accepts(other, word) for word in words] != right:
            return json.dumps(other, indent=2, ensure_ascii=False).encode()


def pack(header, tensors):
    """Returns the bytes of a model file."""
    table, body = {"__metadata__": {"echostack": json.dumps(header, separators=(",", ":"), ensure_ascii=False)}}, b""
    for name in sorted(tensors, key=lambda name: (tensors[name][0] != "F64", name)):
        dtype, shape, values = tensors[name]
        part = array("d" if dtype == "F64" else "I", values).tobytes()
        table[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(part)]}
        body += part
    head = json.dumps(table, separators=(",", ":"), ensure_ascii=False).encode()
    head += b" " * (-len(head) % 8)
    return len(head).to_bytes(8, "little") + head + body


def other_machine(header, tensors, right, rng):
    """Returns a machine in which two right answers of one readout are swapped."""
    lists = {"shift": header["shift"], "output": header["output"], **next(iter(header["actions"].values()))}
    name = rng.choice([name for name in lists if len(right[name]) > 1])
    a, b = rng.sample(sorted(right[name]), 2)
    lists[name][a], lists[name][b] = lists[name][b], lists[name][a]
    return pack(header, tensors)


def deep_machine(header, tensors, length):
    """Returns a machine that does the same until `length` copies of the first terminal are on top of the stack.

    Then none of its functions is above 0. Neuron k of a chain is above 0 if the last k symbols are all that terminal;
    one more neuron is below 0 on any stack except the empty one.
    """
    m, channels = tensors["reservoir.input"][1]
    chain = [[50.0] + [-50.0] * (channels - 1)] + [[-50.0] + [-1000.0] * (channels - 1)] * (length - 1) + [[-50.0] * channels]
    places, weights = list(tensors["reservoir.places"][2]), list(tensors["reservoir.recurrent"][2])
    for k in range(1, length):
        places += [m + k, m + k - 1]
        weights.append(100.0)
    header["reservoir"]["neurons"] = size = m + length + 1
    tensors["reservoir.input"] = "F64", [size, channels], list(tensors["reservoir.input"][2]) + sum(chain, [])
    tensors["reservoir.places"] = "U32", [len(weights), 2], places
    tensors["reservoir.recurrent"] = "F64", [len(weights)], weights
    for side, weight in (("input", 0.0), ("stack", 50.0)):
        _, (_, count), values = tensors["linear." + side]
        fresh = [0.0] * (length - 1) * count + [-weight] * count + [weight] * count
        tensors["linear." + side] = "F64", [size, count], list(values) + fresh
        tensors["centres." + side] = "F64", [0, size], []
    return pack(header, tensors)


def lists_in(form):
    """Yields all lists of a certificate, at any depth."""
    for part in form.values() if type(form) is dict else form:
        if type(part) is list and part:
            yield part
        if type(part) in (list, dict):
            yield from lists_in(part)


def edit(form, rng):
    """Changes one number, or removes, repeats or swaps entries."""
    some = rng.choice(list(lists_in(form)))
    at, change = rng.randrange(len(some)), rng.randrange(6)
    if change < 3 and type(some[at]) is int:
        some[at] += rng.choice((-2, -1, 1, 2))
    elif change == 3:
        del some[at]
    elif change == 4:
        some.append(copy.deepcopy(some[at]))
    else:
        other = rng.randrange(len(some))
        some[at], some[other] = some[other], some[at]


def omit(form, rng):
    """Removes one entry, moves a claim to a shorter stack, or moves a completion before those that it follows from."""
    claimed = [cell for cell in form["cells"] if cell.get("proved")]
    if "completions" in form and rng.random() < 0.3:
        at = form["controls"].index([0, 0]), rng.randrange(len(form["elements"]) + 1), form["controls"].index([4])
        form["completions"] = rng.choice(([at, *form["completions"]], form["completions"][::-1]))
    elif rng.random() < 0.4:
        cell = rng.choice([cell for cell in claimed if cell["stack"]])
        claim = cell["proved"].pop(rng.randrange(len(cell["proved"])))
        shorter = [cell["stack"], cell["stack"][:-1]][not cell.get("whole")]
        for beneath in form["cells"]:
            if beneath["stack"] == shorter and not beneath.get("whole"):
                beneath.setdefault("proved", []).append(claim)
    elif rng.random() < 0.5:
        cell = rng.choice(claimed)
        del cell["proved"][rng.randrange(len(cell["proved"]))]
    else:
        some = form[rng.choice(LISTS)]
        del some[rng.randrange(len(some))]


def complete_forgery(form, data, text, rng):
    """Fills in all configurations and cells that can be right for the automaton without asking the machine."""
    automaton = recheck.Automaton(json.loads(text))
    made = recheck.Certificate.__new__(recheck.Certificate)
    made.model, made.automaton, made.base, made.memory = recheck.Model(data), automaton, automaton.terminals + 1, 0
    made.heads, made.beneath = set(), collections.defaultdict(set)
    elements, controls, places = {automaton.bottom: 0}, {}, {}
    pushes, popped, todo = [], collections.defaultdict(set), [((0, 0), automaton.bottom, 0)]
    while todo:
        head = control, element, beneath = todo.pop()
        if head in made.heads:
            continue
        made.heads.add(head)
        controls.setdefault(control, len(controls))
        for kind, then, *pushed in automaton.moves(control, element, lambda past, token: 0):
            if kind == "stay":
                todo.append((then, element, beneath))
            elif kind == "pop":
                popped[beneath].add(then)
                todo += [(then, *under) for under in made.beneath[beneath]]
            else:
                if pushed[0] not in elements:
                    elements[pushed[0]] = len(elements)
                    pushes.append([elements[element], pushed[0][0]])
                place = places.setdefault((then, *pushed), len(places) + 1)
                made.beneath[place].add((element, beneath))
                todo += [(then, *pushed, place), *((after, element, beneath) for after in popped[place])]
    form.pop("completions", None)
    form |= {"certificate": 1, "memory": 0, "elements": pushes, "controls": list(controls), "cells": []}
    form["places"] = [[controls[control], elements[element]] for control, element in places]
    form["heads"] = [[controls[control], elements[element], beneath] for control, element, beneath in made.heads]
    form["unders"] = [[place, elements[element], beneath] for place, unders in made.beneath.items() for element, beneath in unders]
    depth, todo = rng.randrange(4), [((), False, made.obligations())]
    while todo and len(form["cells"]) < 1000:
        stack, end, left = todo.pop(0)
        one = [name for name, items in left.items() if len({label for label, _, _ in items}) == 1 and (end or len(stack) >= depth)]
        for name in one:
            del left[name]
        form["cells"].append({"stack": stack, "whole": end, "proved": [[readout, look] for readout, (look, _, _) in one]})
        for symbol, parts in made.split_stack(left).items():
            todo.append((stack, True, parts) if symbol is None else (stack + (symbol,), False, parts))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs=3, metavar="FILE", help="the model, the automaton, and the certificate")
    parser.add_argument("--count", type=int, default=1000, help="forgeries to make [default: 1000]")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    data, text, proof = (Path(name).read_bytes() for name in arguments.files)
    print("the true one is confirmed:", recheck.confirm(data, text, proof))
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(json.loads(data[8:start])["__metadata__"]["echostack"])
    constructed = "linear.stack" in json.loads(data[8:start]) and header["reservoir"].get("sparse")
    model, true, rng = recheck.Model(data), json.loads(proof), random.Random(arguments.seed)
    known = recheck.Certificate(true, model, recheck.Automaton(json.loads(text))).decisions
    right = collections.defaultdict(set)
    for readout, own, _ in itertools.chain(*known.values()):
        right[model.heads[readout][0]].add(own)
    reasons, accepted = collections.Counter(), 0
    for number in range(arguments.count):
        form, own_data, own_text, kind = copy.deepcopy(true), data, text, ("missing", "header", "automaton", "machine")[number % 4]
        if kind == "missing":
            omit(form, rng)
        elif kind == "header":
            name = rng.choice(("certificate", "arithmetic", "machine", "automaton"))
            form[name] = form[name] + 2 if type(form[name]) is int else form[name][::-1]
        else:
            if kind == "automaton":
                own_text = other_automaton(json.loads(text), rng)
                form["automaton"] = recheck.Automaton(json.loads(own_text)).digest
            else:
                parts = copy.deepcopy(header), dict(model.tensors)
                deep = constructed and number % 8 > 3
                own_data = deep_machine(*parts, rng.randrange(4, 25)) if deep else other_machine(*parts, right, rng)
                form["machine"] = recheck.Model(own_data).digest
            if number % 8 > 3:
                complete_forgery(form, own_data, own_text, rng)
            for _ in range(rng.randrange(3) if number % 8 < 4 else 0):
                edit(form, rng)
        try:
            print("ACCEPTED:", kind, number, recheck.confirm(own_data, own_text, json.dumps(form)))
            accepted += 1
        except Exception as error:  # as tools/recheck itself does
            why = str(error) if isinstance(error, recheck.Refused) else type(error).__name__
            reasons[kind, why.partition(" on the stack")[0]] += 1
    for (kind, why), count in sorted(reasons.items(), key=lambda item: (item[0][0], -item[1])):
        print(f"{count:6} {kind:10} {why[:100]}")
    print(f"{arguments.count} forgeries, {accepted} accepted; {time.process_time():.1f} s")
    return 1 if accepted else 0


if __name__ == "__main__":
    sys.exit(main())

"""Forges certificates and checks that tools/recheck refuses every one of them.

Usage: python tools/recheck_forgeries.py MODEL AUTOMATON CERTIFICATE [--grammar PATH] [--count N] [--seed N]
                                         [--without CHECK]

The given certificate must be a true one, of version 2 or 3. The following kinds of forgeries are made from it:
- something is missing: any one entry is left out, a claim is moved to a shorter stack, or a completion to the front;
- downgraded: of version 1, which has no completions, and one configuration is left out, too;
- the header is changed: another version, arithmetic or digest;
- the automaton is replaced by one that accepts other words, with the digest recomputed;
- the machine is replaced by one that answers differently, also with the digest recomputed: two classes are swapped, or,
  if the machine was constructed with a random reservoir and its first terminal can be stacked without limit, it goes
  wrong only after enough of these terminals;
- with --grammar, source: the certificate is for another grammar or lexer, or the model has another lexer;
- with --grammar, translation: the automaton is changed in one place. The comparison with the grammar must refuse it,
  unless the change is harmless: on all short words, and on random ones, verdict and position are still the same.
Forgeries with another automaton or machine make a false claim, whatever their numbers are. In some of them, numbers are
changed at random. Others contain everything that can be had without lying, namely closed configurations and cells with
the right answers, so only the bounds can refuse them. If the automaton comes with viable stacks, which would have to be
forged as well, there are no forgeries with another automaton.

With --without, one check of tools/recheck is left out, and harmful forgeries may be accepted. This shows that the check
is needed, and that the forgeries try it.
"""
import argparse
import collections
import copy
import hashlib
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
grammar = sys.modules["grammar"]

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


class Run:
    """Runs an automaton, as its file has it, rule by rule. If it has no viable stacks, every token is shifted."""
    def __init__(self, form):
        self.form, self.tokens, self.viable = form, form["terminals"], form.get("viable")
        self.start = (), 0

    def push(self, run, symbol):
        stack, state = run
        after = self.viable[state].get(symbol) if self.viable and state is not None else None
        return stack + ((symbol, state),), after

    def step(self, run, ahead):
        """Returns the stack after a token; "accepted", "loops"; or None if the token, or the end, is refused."""
        for _ in range(300):
            stack = [symbol for symbol, _ in run[0]]
            for rule in self.form["rules"]:
                own = rule["suffix"]
                ends = len(own) <= len(stack) and stack[len(stack) - len(own):] == own
                if ends and rule["lookahead"] in (None, ahead) and (not rule.get("anchored") or len(own) == len(stack)):
                    break
            else:
                if type(ahead) is dict:
                    return "accepted" if len(stack) == 1 and stack[0] in self.form["accepting"] else None
                run = self.push(run, ahead)
                return run if run[1] is not None or not self.viable else None
            if rule["pop"] > len(stack):
                return None
            if rule["pop"]:
                run = run[0][:-rule["pop"]], run[0][-rule["pop"]][1]
            run = self.push(run, rule["push"])
        return "loops"


def same(a, b, rng, words=1500):
    """Returns whether two automata give the same verdict at the same position on short words and on random ones, which
    follow one of the two most of the time. If the viable stacks are computed, positions are not compared: they follow
    from which words are accepted."""
    end = {"end": True}

    def differ(x, y):
        asked = ["accepted", "loops", *[None] * bool(a.viable and b.viable)]
        return any((x == verdict) != (y == verdict) for verdict in asked)

    def after(x, y, token):
        return [run.step(at, token) if type(at) is tuple else at for run, at in ((a, x), (b, y))]
    todo = collections.deque([(a.start, b.start)])
    for _ in range(words):
        if todo:
            now = todo.popleft()
            for token in [end, *a.tokens]:
                then = after(*now, token)
                if differ(*then):
                    return False
                if token is not end and any(type(at) is tuple for at in then):
                    todo.append(then)
    for _ in range(words // 20):
        now = a.start, b.start
        for _ in range(30):
            choices = [after(*now, token) for token in a.tokens]
            if differ(*after(*now, end)) or any(differ(*then) for then in choices):
                return False
            choices = [then for then in choices if any(type(at) is tuple for at in then)]
            if not choices:
                break
            now = rng.choice(choices)
    return True


def mutate(form, rng):
    """Changes an automaton in one place, and returns the kind of the change."""
    rules, viable, symbols = form["rules"], form.get("viable"), form["terminals"] + form["nonterminals"]
    change = rng.choice(("remove", "repeat", "swap", "pop", "push", "lookahead", "anchored", "suffix", "shorten", "accepting",
                         *(("lead", "add", "drop") if viable else ())))
    at = rng.randrange(len(rules))
    rule = rules[at]
    if change == "remove":
        del rules[at]
    elif change == "repeat":
        other = copy.deepcopy(rule)
        other["lookahead"] = rng.choice([rule["lookahead"], None, {"end": True}, *form["terminals"]])
        rules.insert(rng.randrange(len(rules) + 1), other)
    elif change == "swap":
        other = rng.randrange(len(rules))
        rules[at], rules[other] = rules[other], rules[at]
    elif change == "pop":
        rule["pop"] = max(0, rule["pop"] + rng.choice((-1, 1)))
    elif change == "push":
        rule["push"] = rng.choice(form["nonterminals"])
    elif change == "lookahead":
        rule["lookahead"] = rng.choice([None, {"end": True}, *form["terminals"]])
    elif change == "anchored":
        rule["anchored"] = not rule.get("anchored", False)
    elif change == "suffix" and rule["suffix"]:
        rule["suffix"][rng.randrange(len(rule["suffix"]))] = rng.choice(symbols)
    elif change == "shorten":
        rule["suffix"] = rule["suffix"][1:]
    elif change == "accepting":
        one = rng.choice(form["nonterminals"])
        form["accepting"] = rng.choice(([], [one], form["accepting"] + [one]))
    elif viable:
        row, entry = rng.choice([row for row in viable if row]), rng.choice(symbols)
        entry = entry if change == "add" else rng.choice(list(row))
        if change == "drop":
            del row[entry]
        else:
            row[entry] = rng.randrange(len(viable))
    return change


def mislead(text, automaton, rng, tally):
    """Compares a changed automaton with a grammar, and returns whether a harmful change is accepted."""
    form = copy.deepcopy(automaton)
    change = mutate(form, rng)
    if form == automaton:
        return False
    harmless = same(Run(automaton), Run(form), rng)
    try:
        recheck.check_translation(text, recheck.Automaton(form))
        accepted = True
    except Exception:  # as tools/recheck itself does
        accepted = False
    tally[f"changed automata: {'accepted' if accepted else 'refused'}, {'harmless' if harmless else 'harmful'}"] += 1
    if accepted and not harmless:
        tally["harmful change: " + change] += 1
    return accepted and not harmless


# Leaving out a check must not make anything else fail, so each of these replaces it by one that always succeeds.
CHECKS = {
    **{name: lambda name=name: grammar.AGREES.update({name: lambda *_: True}) for name in grammar.AGREES},
    "dead-ends": lambda: setattr(grammar.Pairs, "refuses", lambda *_: False),
    "stop": lambda: setattr(grammar.Pairs, "stop", lambda *_: True),
    "digests": lambda: setattr(recheck, "check_digests", lambda *_: None),
    "closure": lambda: setattr(recheck.Certificate, "check_closure", lambda *_: None),
    "completions": lambda: setattr(recheck.Certificate, "complete", lambda *_: 0),
}


def flat(form):
    """Returns a certificate in version 2, whose fields the forgeries change."""
    if form["certificate"] < 3:
        return form
    return {"certificate": 2, "automaton": form["automaton"], **form["machine"], "machine": form["machine"]["digest"]}


def wrapped(form, **parts):
    """Returns a certificate of version 2 in version 3, with more parts."""
    machine = {name: part for name, part in form.items() if name not in ("certificate", "automaton", "machine")}
    machine["digest"] = form["machine"]
    return {"certificate": form["certificate"] + 1, "automaton": form["automaton"], "machine": machine, **parts}


def digest(data):
    return {"digest": hashlib.sha256(data).hexdigest()}


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


def other_source(true, data, texts, rng):
    """Returns a certificate and a model of which one is for another grammar or lexer, which is among the parts."""
    parts = {name: digest(text) for name, text in texts.items()}
    name = rng.choice(list(texts))
    if name == "lexer" and rng.random() < 0.5:
        start = 8 + int.from_bytes(data[:8], "little")
        table = json.loads(data[8:start])
        header = json.loads(table["__metadata__"]["echostack"])
        header["manifest"]["lexer"] += " "
        table["__metadata__"]["echostack"] = json.dumps(header, separators=(",", ":"), ensure_ascii=False)
        head = json.dumps(table, separators=(",", ":"), ensure_ascii=False).encode()
        head += b" " * (-len(head) % 8)
        return wrapped(true, **parts), len(head).to_bytes(8, "little") + head + data[start:]
    at = rng.randrange(len(texts[name]) + 1)
    other = digest(texts[name][:at] + b" " + texts[name][at:])
    parts[name] = rng.choice((other, {"digest": parts[name]["digest"][::-1]}))
    return wrapped(true, **parts), data


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs=3, metavar="FILE", help="the model, the automaton, and the certificate")
    parser.add_argument("--grammar", type=Path, metavar="PATH", help="a file, or a folder with grammar.y and perhaps lexer.l")
    parser.add_argument("--count", type=int, default=1000, help="forgeries to make [default: 1000]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", help="make only these kinds, separated by commas")
    parser.add_argument("--without", choices=CHECKS, metavar="CHECK", help=f"leave out a check: {', '.join(CHECKS)}")
    arguments = parser.parse_args()
    data, text, proof = (Path(name).read_bytes() for name in arguments.files)
    source = recheck.read_grammar(arguments.grammar)
    print("the true one is confirmed:", recheck.confirm(data, text, proof, *source)[0])
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(json.loads(data[8:start])["__metadata__"]["echostack"])
    constructed = "linear.stack" in json.loads(data[8:start]) and header["reservoir"].get("sparse")
    model, true, rng = recheck.Model(data), flat(json.loads(proof)), random.Random(arguments.seed)
    automaton = json.loads(text)
    texts = {name: part for name, part in zip(("grammar", "lexer"), source) if part is not None}
    known = recheck.Certificate(true, model, recheck.Automaton(automaton)).decisions
    right = collections.defaultdict(set)
    for readout, own, _ in itertools.chain(*known.values()):
        right[model.heads[readout][0]].add(own)
    kinds = ["missing", "header", "machine", "downgraded"]
    kinds += ["automaton"] * ("viable" not in automaton) + ["source", "translation"] * bool(texts)
    kinds = [kind for kind in kinds if not arguments.kinds or kind in arguments.kinds.split(",")]
    if arguments.without:
        CHECKS[arguments.without]()
    reasons, tally, accepted = collections.Counter(), collections.Counter(), 0
    for number in range(arguments.count):
        form, own_data, own_text, kind = copy.deepcopy(true), data, text, kinds[number % len(kinds)]
        second = number // len(kinds) % 2
        if kind == "translation":
            accepted += mislead(source[0].decode(), automaton, rng, tally)
            continue
        if kind == "source":
            form, own_data = other_source(form, data, texts, rng)
        elif kind == "missing":
            omit(form, rng)
        elif kind == "downgraded":
            del form["completions"]
            form["certificate"] = 1
            some = form[rng.choice(("heads", "unders"))]
            del some[rng.randrange(len(some))]
        elif kind == "header":
            name = rng.choice(("certificate", "arithmetic", "machine", "automaton"))
            form[name] = form[name] + 2 if type(form[name]) is int else form[name][::-1]
        else:
            if kind == "automaton":
                own_text = other_automaton(automaton, rng)
                form["automaton"] = recheck.Automaton(json.loads(own_text)).digest
            else:
                parts = copy.deepcopy(header), dict(model.tensors)
                deep = constructed and second
                own_data = deep_machine(*parts, rng.randrange(4, 25)) if deep else other_machine(*parts, right, rng)
                form["machine"] = recheck.Model(own_data).digest
            if second:
                complete_forgery(form, own_data, own_text, rng)
            for _ in range(rng.randrange(3) if not second else 0):
                edit(form, rng)
        if kind != "source" and "completions" in form and rng.random() < 0.5:
            form = wrapped(form)
        try:
            told, _ = recheck.confirm(own_data, own_text, json.dumps(form), *(source if kind == "source" else (None, None)))
            if not arguments.without:
                print("ACCEPTED:", kind, number, told)
            accepted += 1
            tally["accepted: " + kind] += 1
        except Exception as error:  # as tools/recheck itself does
            why = str(error) if isinstance(error, recheck.Refused) else type(error).__name__
            reasons[kind, why.partition(" on the stack")[0]] += 1
    for (kind, why), count in sorted(reasons.items(), key=lambda item: (item[0][0], -item[1])):
        print(f"{count:6} {kind:10} {why[:100]}")
    for what, count in sorted(tally.items()):
        print(f"{count:6} {what}")
    left_out = f" without the check {arguments.without}" if arguments.without else ""
    print(f"{arguments.count} forgeries{left_out}, {accepted} harmful ones accepted; {time.process_time():.1f} s")
    return 1 if accepted and not arguments.without else 0


if __name__ == "__main__":
    sys.exit(main())

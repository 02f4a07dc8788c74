#!/usr/bin/env python3
"""Converts a certificate and its automaton, both in JSON, to data for Coq.

    echostack learn task:anbn --prove --certificate anbn.json -o anbn.safetensors
    echostack tasks --json --rules | jq 'select(.task == "anbn").automaton' > automaton.json
    ./to_coq.py anbn.json automaton.json AnbnData.v

The alphabet, the rules, the accepting symbols and the table of viable stacks must be right in the output, because they
define the automaton. The table is computed here from the rules, unless the automaton comes with one. Everything else is
checked.
"""

import json
import sys
from pathlib import Path

READOUTS = ["PopReadout", "PushReadout", "OutputReadout", "ShiftReadout"]
END, BOTTOM = None, None


class Rules:
    def __init__(self, automaton):
        self.names = automaton["terminals"] + automaton["nonterminals"]
        self.terminals = len(automaton["terminals"])
        number = {name: i for i, name in enumerate(self.names)}
        self.accepting = [number[name] for name in automaton["accepting"]]
        self.rules = []
        for rule in automaton["rules"]:
            look = rule["lookahead"]
            look = "any" if look is None else END if isinstance(look, dict) else number[look]
            suffix = [number[name] for name in rule["suffix"]]
            self.rules.append((rule.get("anchored", False), suffix, look, rule["pop"], number[rule["push"]]))
        given = automaton.get("viable")
        if given is None:
            rows, viable = self.viability()
        else:  # every state is viable, except the one to which unnamed symbols lead
            dead = len(given)
            rows = [[row.get(name, dead) for name in self.names] for row in given] + [[dead] * len(self.names)]
            viable = [True] * dead + [False]
        self.rows, self.viable = smallest(rows, viable)

    def rule(self, end, look):
        """Returns the first rule that matches a stack suffix, which begins with BOTTOM if it is the whole stack."""
        for anchored, suffix, wanted, pop, push in self.rules:
            shown = [BOTTOM] * anchored + suffix
            if wanted in ("any", look) and len(shown) <= len(end) and list(end[len(end) - len(shown) :]) == shown:
                return pop, push
        return None

    def viability(self):
        """Returns the viable stacks as a finite automaton that reads a stack from the bottom: pre* of acceptance.

        A node is the longest suffix of a stack that is a prefix of some rule's suffix. For each control and node, this
        finds the controls that are reached when the topmost symbol is popped, by repeating all steps until nothing new
        is found.
        """
        patterns = [[BOTTOM, symbol] for symbol in self.accepting]
        patterns += [[BOTTOM] * anchored + suffix for anchored, suffix, *_ in self.rules]
        beginnings = {tuple(pattern[:length]) for pattern in patterns for length in range(len(pattern) + 1)}
        beginnings |= {(), (BOTTOM,)}
        looks = [*range(self.terminals), END]

        def push(node, symbol):
            node = (*node, symbol)
            return next(node[first:] for first in range(len(node) + 1) if node[first:] in beginnings)

        nodes, fresh = set(), [(BOTTOM,)]
        while fresh:
            node = fresh.pop()
            if node not in nodes:
                nodes.add(node)
                fresh.extend(push(node, symbol) for symbol in range(len(self.names)))
        pops = {(look, left, to) for _, _, wanted, pop, to in self.rules for left in range(pop)
                for look in looks if wanted in ("any", look)}
        controls = ["accepted", "next", *(("reduce", look) for look in looks), *(("pop", *rest) for rest in pops)]
        gone = {(control, node): set() for control in controls for node in nodes}

        def through(node, above, control):
            """Returns the controls after `node` is popped, if something is pushed onto it first."""
            return set().union(*(gone[after, node] for after in gone[control, above]))

        def outcomes(control, node):
            if control == "accepted":
                return {control}
            if control == "next":
                return set().union(*(gone[("reduce", look), node] for look in looks))
            kind, look, *rest = control
            if kind == "reduce":
                rule = self.rule(node, look)
                if rule is None and look is END:
                    exact = len(node) == 2 and node[0] is BOTTOM and node[1] in self.accepting
                    return {"accepted"} if exact else set()
                if rule is None:
                    return through(node, push(node, look), "next")
                rest = rule
            left, to = rest
            if left == 0:
                return through(node, push(node, to), ("reduce", look))
            return {("pop", look, left - 1, to)}

        grown = True
        while grown:
            grown = False
            for (control, node), known in gone.items():
                more = outcomes(control, node)
                grown |= not more <= known
                known |= more

        def state(node, beneath):
            """Returns the state with this node on top of a stack that is accepted from the controls in `beneath`."""
            return node, frozenset(control for control in controls if gone[control, node] & beneath)

        bottom = (BOTTOM,)
        states, rows = [state(bottom, {"accepted"})], []
        for node, accepting in states:
            row = []
            for symbol in range(len(self.names)):
                to = state(push(node, symbol), accepting)
                if to not in states:
                    states.append(to)
                row.append(states.index(to))
            rows.append(row)
        return rows, ["next" in accepting for _, accepting in states]


def smallest(rows, viable):
    """Minimizes a finite automaton. The states are numbered in their original order."""
    parts, count = viable, 0
    while len(set(parts)) > count:
        count = len(set(parts))
        kinds = [(part, *(parts[to] for to in row)) for part, row in zip(parts, rows)]
        parts = [kinds.index(kind) for kind in kinds]
    order = list(dict.fromkeys(parts))
    return [[order.index(parts[to]) for to in rows[state]] for state in order], [viable[state] for state in order]


def write(value):
    """Formats a value for Coq. A tuple is an application, or a pair if its first item is not a name."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + "; ".join(map(write, value)) + "]"
    if isinstance(value, tuple):
        return "(" + (" " if isinstance(value[0], str) else ", ").join(map(write, value)) + ")"
    return str(value)


def option(value, none=None):
    return "None" if value == none else ("Some", value)


def control(numbers):
    kind, past, *rest = numbers
    if rest:
        rest[0] = option(rest[0], -1)
    return (["Next", "Reduce", "Popping", "Settled"][kind], past, *rest)


def name(numbers, readouts):
    readout, look, *before = numbers
    whole = before[-1:] == [-1]
    return ("pair", readouts[readout], ("Build_looked", option(look, -1), before[: len(before) - whole], whole))


def main(certificate, automaton, out):
    certificate = json.loads(Path(certificate).read_text())
    rules = Rules(json.loads(Path(automaton).read_text()))
    certificate = certificate["machine"] if certificate["certificate"] > 2 else certificate
    controls = certificate["controls"]
    names = [name for cell in certificate["cells"] for name in cell.get("proved", []) + cell.get("split", [])]
    # The readouts are numbered as in the machine. The shift readout, which is always consulted, is the last one.
    joint = max(numbers[0] for numbers in names) < 3
    readouts = [readout for readout in READOUTS if not (joint and readout == "PushReadout")]
    rule_list = [("Build_rule", anchored, suffix[::-1], "None" if look == "any" else ("Some", option(look)), pop, push)
                 for anchored, suffix, look, pop, push in rules.rules]
    cells = [("Build_cell", cell["stack"], cell.get("whole", False),
              *([name(numbers, readouts) for numbers in cell.get(key, [])] for key in ("split", "proved")))
             for cell in certificate["cells"]]
    text = [f"(* Symbols: {', '.join(f'{i} is {name}' for i, name in enumerate(rules.names))}. Made by to_coq.py. *)",
            "Require Import List.", "Import ListNotations.",
            "Require Import Echostack.Run Echostack.Reach Echostack.Machine Echostack.Agreement.",
            "Require Import Echostack.Check Echostack.Rules.", ""]

    def define(what, kind, value):
        # One entry per line is easier to read and to compare.
        if isinstance(value, list):
            value = "[\n  " + ";\n  ".join(map(write, value)) + "\n]"
        text.append(f"Definition {what} : {kind} := {value}.\n")

    define("terminals", "nat", rules.terminals)
    define("symbols", "nat", len(rules.names))
    define("tokens", "nat", certificate["memory"])
    define("asked", "list readout", write(readouts))
    define("its_rules", "list rule", rule_list)
    define("its_rows", "list (list nat)", rules.rows)
    define("the_rules", "rules", write(("Build_rules", "its_rules", rules.accepting, "its_rows", rules.viable)))
    define("elements", "list (nat * symbol)", write([tuple(pair) for pair in certificate["elements"]]))
    define("heads", "list (control * nat * place)", [(control(controls[c]), e, p) for c, e, p in certificate["heads"]])
    define("unders", "list (place * nat * place)", [tuple(under) for under in certificate["unders"]])
    define("cells", "list cell", cells)
    define("the_certificate", "certificate known", "certificate_of (strict the_rules) elements heads unders cells")
    Path(out).write_text("\n".join(text))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""The automaton (docs/format.md), and what a certificate claims about it (docs/certificates.md): a closed set of
configurations, completions, and cells that cover everything. There are no real numbers here; the result is the list of
decisions that remain to be bounded. Whether the automaton is that of a grammar is decided in grammar.py.

A stack is a list of elements. An element is a symbol (None: the bottom) together with everything that determines what
the automaton does when this symbol is on top: its node, which is the longest stack suffix that is a prefix of some
rule's suffix, and its state, which determines what can still be accepted.
"""
import hashlib
import json
from collections import defaultdict
from functools import cache, reduce
from itertools import chain
from operator import itemgetter, or_

from model import require, whole

FORMATS, ARITHMETIC = (1, 2, 3), 1
MACHINE = "digest arithmetic memory elements controls places heads unders completions cells".split()
PARTS = {"grammar": ["digest"], "lexer": ["digest"], "machine": MACHINE, "table": ["digest"]}   # of version 3
MOST_WORK = 1 << 22    # the maximum size of the search for the viable stacks
END = -1               # the end of the word, as a token number
BOTTOM = -2            # the bottom of the stack, as a symbol of a node
NEXT, REDUCE, POP, SETTLED, ACCEPTED = range(5)   # the kinds of controls, numbered as in certificates


class Automaton:
    def __init__(self, form):
        self.digest = hashlib.sha256(json.dumps(form, indent=2, ensure_ascii=False).encode()).hexdigest()
        self.names, self.terminals = form["terminals"] + form["nonterminals"], len(form["terminals"])
        self.looks = [*range(self.terminals), END]
        numbers = {name: number for number, name in enumerate(self.names)}
        require(len(numbers) == len(self.names), "a symbol is named twice")
        self.rules = []
        for rule in form["rules"]:
            suffix = (BOTTOM,) * (rule.get("anchored") is True) + tuple(numbers[name] for name in rule["suffix"])
            ahead = rule.get("lookahead")
            look = None if ahead is None else END if ahead == {"end": True} else numbers[ahead]
            self.rules.append((suffix, look, whole(rule["pop"], 4097, "pop"), numbers[rule["push"]]))
        self.accepting = {(BOTTOM, numbers[name]) for name in form["accepting"]}
        states = form.get("parser_states")
        conventional = [name for name in form["nonterminals"] if name.startswith("#")]
        self.parser_states = {numbers[name] for name in (conventional if states is None else states)}
        require(not self.parser_states & set(range(self.terminals)), "a terminal is a parser state")
        states = form.get("viable") or []
        self.given = [{numbers[name]: whole(to, len(states), "state") for name, to in row.items()} for row in states]
        # Nodes are represented by the symbols that they stand for.
        patterns = [suffix for suffix, *_ in self.rules] + [(BOTTOM,), *self.accepting]
        self.nodes = {pattern[:length] for pattern in patterns for length in range(len(pattern) + 1)}
        self.follow, self.push, self.action = cache(self.follow), cache(self.push), cache(self.action)
        self.matching, self.by_suffix = cache(self.matching), defaultdict(list)
        for place, rule in enumerate(self.rules):
            self.by_suffix[rule[0]].append((place, rule))
        if not self.given:
            self.saturate()
        self.bottom = (None, (BOTTOM,), 0 if self.given else self.accepted_from(1 << self.bits[ACCEPTED,], (BOTTOM,)))

    def follow(self, node, symbol):
        """Returns the node of the stack with one more symbol."""
        longer = node + (symbol,)
        while longer not in self.nodes:
            longer = longer[1:]
        return longer

    def matching(self, node):
        """Returns the rules whose suffix is a suffix of the node, in their order."""
        found = (self.by_suffix.get(node[start:], ()) for start in range(len(node) + 1))
        return [rule for _, rule in sorted(chain.from_iterable(found), key=itemgetter(0))]

    def action(self, node, look):
        """Returns the action of the first matching rule as (pop, push), or (0, None) if no rule matches."""
        return next(((pop, push) for _, wanted, pop, push in self.matching(node) if wanted in (None, look)), (0, None))

    # The viable stacks, if they are not given: pre* of acceptance. Sets of controls are represented by the bits of a
    # number.

    def saturate(self):
        """Computes pops[control, node]: the controls that can be reached with the node popped and everything below it
        untouched."""
        acts = {(look, *self.action(node, look)) for node in self.nodes for look in self.looks}
        size = len(self.nodes) * sum(1 + pop for _, pop, _ in acts)
        require(size < MOST_WORK, "the viable stacks take too much work")
        self.controls = [(ACCEPTED,), (NEXT,), *{(POP, look, left, push) for look, pop, push in acts for left in range(pop)}]
        self.bits = {control: bit for bit, control in enumerate(self.controls)}
        deciding = [control for control in self.controls if control[0] == NEXT or control[0] == POP and control[2] == 0]
        deciding += [(REDUCE, look) for look in self.looks]
        self.pops, before = {(control, node): 0 for control in deciding for node in self.nodes}, None
        while before != self.pops:
            before = dict(self.pops)
            for goal in self.pops:
                self.pops[goal] = self.outcomes(*goal)

    def outcomes(self, control, node):
        """Returns the outcomes of a goal that follow from the known outcomes of the goals that it leads to."""
        kind, *rest = control
        if kind == NEXT:
            return reduce(or_, (self.pops[(REDUCE, look), node] for look in self.looks))
        look = rest[0]
        pop, push = (0, rest[2]) if kind == POP else self.action(node, look)
        if pop:
            return 1 << self.bits[POP, look, pop - 1, push]
        if push is None and look == END:
            return 1 << self.bits[ACCEPTED,] if node in self.accepting else 0
        above = ((REDUCE, look), self.follow(node, push)) if push is not None else ((NEXT,), self.follow(node, look))
        reached = 0
        for bit, control in enumerate(self.controls):
            if self.pops[above] >> bit & 1:  # the symbol pushed onto this node is popped, with this control
                reached |= self.popped(bit) or self.pops[control, node]
        return reached

    def popped(self, bit):
        """Returns the control, as a set, after a control that pops any top; the empty set if this control does not."""
        kind, *rest = self.controls[bit]
        if kind == POP and rest[1]:
            return 1 << self.bits[POP, rest[0], rest[1] - 1, rest[2]]
        return 1 << bit if kind == ACCEPTED else 0

    def accepted_from(self, beneath, node):
        """Returns the controls from which a stack is accepted, given those of the stack below its top."""
        leads = (self.popped(bit) or self.pops[control, node] for bit, control in enumerate(self.controls))
        return sum((after & beneath != 0) << bit for bit, after in enumerate(leads))

    def push(self, element, symbol):
        """Returns the element that results from pushing a symbol."""
        _, node, state = element
        node = self.follow(node, symbol)
        if self.given:
            return symbol, node, None if state is None else self.given[state].get(symbol)
        return symbol, node, self.accepted_from(state, node)

    def shifts(self, element, token):
        """Returns whether the stack with this token can still become a word."""
        state = self.push(element, token)[2]
        return state is not None if self.given else bool(state >> self.bits[NEXT,] & 1)

    def moves(self, control, element, remember):
        """Returns the possible next moves: ("stay", control), ("pop", control) or ("push", control, element)."""
        kind, past, *rest = control
        if kind == NEXT:
            return [("stay", (REDUCE, past, look)) for look in self.looks]
        look = rest[0]
        if kind == SETTLED:
            goes_on = look != END and self.shifts(element, look)
            return [("push", (NEXT, remember(past, look)), self.push(element, look))] if goes_on else []
        left, push = self.action(element[1], look) if kind == REDUCE else rest[1:]
        if push is None:
            return [("stay", (SETTLED, past, look))]
        if left == 0:
            return [("push", (REDUCE, past, look), self.push(element, push))]
        return [] if element == self.bottom else [("pop", (POP, past, look, left - 1, push))]


def rows(form, *limits):
    """Yields rows of integers, with one integer per limit, each below its limit."""
    for row in form:
        require(len(row) == len(limits), "a list has another length")
        yield tuple(whole(number, limit, f"number below {limit}") for number, limit in zip(row, limits))


def split(form):
    """Returns the parts of a certificate by their names. Versions 1 and 2 consist of the part for the machine. Version 1
    has no completions, and version 3 has none if it was written from version 1."""
    require(form["certificate"] in FORMATS and type(form["certificate"]) is int, "its format is unknown")
    if form["certificate"] < 3:
        machine = {name: form[name] for name in MACHINE[1:] if name in form} | {"digest": form["machine"]}
        if form["certificate"] == 1:
            machine.pop("completions", None)
        else:
            require("completions" in machine, "the completions are missing")
        return {"machine": machine}
    require(set(form) <= {"certificate", "automaton", *PARTS}, "it has a field that is unknown")
    parts = {name: form[name] for name in PARTS if name in form}
    for name, part in parts.items():
        fields = {*part, "completions"} if name == "machine" else set(part)
        require(type(part) is dict and fields == set(PARTS[name]), f"the part {name} has other fields")
        require(type(part["digest"]) is str, f"the digest of the part {name} is no text")
    require("machine" in parts, "it has no part for a machine, and only this part is checked here")
    require("table" not in parts, "it is also about a table, which is not checked here")
    return parts


class Certificate:
    def __init__(self, form, model, automaton):
        self.parts = split(form)
        require(form["automaton"] == automaton.digest, "it is for another automaton")
        form = self.parts["machine"]
        require(form["arithmetic"] == ARITHMETIC, "its arithmetic is unknown")
        require(model.names == automaton.names and model.terminals == automaton.terminals, "the symbols differ")
        require(form["digest"] == model.digest, "it is for another machine")
        self.model, self.automaton, self.base = model, automaton, automaton.terminals + 1
        self.memory = whole(form["memory"], 33, "memory")
        elements, controls, places = [automaton.bottom], list(map(tuple, form["controls"])), len(form["places"]) + 1
        for on, symbol in rows(form["elements"], len(form["elements"]), len(automaton.names)):
            elements.append(automaton.push(elements[on], symbol))
        # From here on, controls and elements replace their numbers. Place 0 is below the bottom.
        known = len(controls), len(elements)
        self.places = [None, *((controls[at], elements[element]) for at, element in rows(form["places"], *known))]
        self.heads = {(controls[at], elements[element], beneath) for at, element, beneath in rows(form["heads"], *known, places)}
        self.beneath = defaultdict(set)
        for place, element, beneath in rows(form["unders"], places, len(elements), places):
            self.beneath[place].add((elements[element], beneath))
        self.check_closure()
        self.directly = defaultdict(set)  # the elements that can lie directly below each element
        for place, unders in self.beneath.items():
            self.directly[self.places[place][1] if place else None].update(element for element, _ in unders)
        self.finds = "completions" not in form
        if self.finds:
            triples = self.find_completions()
        else:
            numbers = rows(form["completions"], *known, len(controls))
            triples = ((controls[p], elements[element], controls[q]) for p, element, q in numbers)
        self.completions = self.complete(triples)
        self.decisions = self.cover(form["cells"])

    def remember(self, past, token):
        """Returns the past as a number. The last token, counted from 1, is the lowest digit; 0 is the word's start."""
        return (past * self.base + token + 1) % self.base**self.memory

    def check_closure(self):
        """Checks that the heads contain the start and, for each head, everything that can follow."""
        numbers = {place: number for number, place in enumerate(self.places)}
        require(((NEXT, 0), self.automaton.bottom, 0) in self.heads, "the beginning of a word is missing")
        for control, element, beneath in self.heads:
            for kind, then, *pushed in self.automaton.moves(control, element, self.remember):
                if kind == "stay":
                    there = (then, element, beneath) in self.heads
                elif kind == "pop":
                    there = all((then, *under) in self.heads for under in self.beneath[beneath])
                else:
                    place = numbers.get((then, *pushed))
                    there = place and (then, *pushed, place) in self.heads and (element, beneath) in self.beneath[place]
                require(there, "a configuration that can follow is missing")

    # A completion (p, e, q) says that, from control p with e on top, some input leads to control q with e popped. Each
    # completion follows from earlier ones, so its position in the list is its rank, and no two justify each other.

    def find_completions(self):
        """Returns all completions that are of use, each after those that it follows from."""
        # Asking for what is not known yet adds an empty entry to `found`, which becomes a goal of the next round.
        triples, found, before = [], defaultdict(set), None
        for control, element, _ in self.heads:
            if control[0] == NEXT:
                found[(NEXT, 0), element]
        while before != (len(found), len(triples)):
            before = len(found), len(triples)
            for control, element in list(found):
                for after in self.completed(found, control, element) - found[control, element]:
                    found[control, element].add(after)
                    triples.append((control, element, after))
                    for under in self.directly[element] if after != (ACCEPTED,) else ():
                        found[after, under]
        return triples

    def complete(self, triples):
        found = defaultdict(set)
        for p, element, q in triples:
            require(q in self.completed(found, p, element), "a completion does not follow from earlier ones")
            found[p, element].add(q)
        # For every stack that waits for a token, some continuation is accepted, by induction over the height.
        claims = {(frozenset([(NEXT, 0)]), element) for control, element, _ in self.heads if control[0] == NEXT}
        todo = list(claims)
        while todo:
            controls, element = todo.pop()
            after = frozenset(q for p in controls for q in found[p, element])
            if (ACCEPTED,) not in after:
                require(element != self.automaton.bottom and after, "no continuation of a stack is known to be accepted")
                fresh = {(after, under) for under in self.directly[element]} - claims
                claims |= fresh
                todo += fresh
        return sum(map(len, found.values()))

    def completed(self, found, control, element):
        """Returns the controls that the completions found so far lead to."""
        if control[0] == SETTLED and control[2] == END and element[1] in self.automaton.accepting:
            return {(ACCEPTED,)}
        reached = set()
        for kind, then, *pushed in self.automaton.moves(control, element, lambda past, token: 0):
            if kind == "stay":
                reached |= found[then, element]
            elif kind == "pop":
                reached.add(then)
            else:
                for middle in found[then, pushed[0]]:
                    reached |= {middle} if middle == (ACCEPTED,) else found[middle, element]
        return reached

    # Cells. An obligation is a readout with a lookahead, and its items: the right label, the place below the stack
    # suffix of the cell, and the past.

    def obligations(self):
        """Returns the obligations before any splitting, when only the next token is known."""
        automaton, found = self.automaton, defaultdict(set)
        for control, element, beneath in self.heads:
            if control[0] == REDUCE:
                pop, push = automaton.action(element[1], control[2])
                right = {"pop": pop, "push": push, "actions": (pop, push)}
            elif control[0] == SETTLED:
                right = {"output": (float(element[1] in automaton.accepting),)}
                if control[2] != END:
                    right["shift"] = automaton.shifts(element, control[2])
            else:
                continue
            for number, (name, _, _) in enumerate(self.model.heads):
                if name in right:
                    found[number, (control[2], (), False)].add((right[name], (element, beneath), control[1]))
        return found

    def split_input(self, name, items):
        """Splits items by the previous token, or the start of the word (-1). A forgotten token may be any token."""
        readout, (look, before, _) = name
        parts, place = defaultdict(set), self.base**len(before)
        for item in items:
            kept = len(before) < self.memory
            for token in [item[2] // place % self.base - 1] if kept else range(-1, self.automaton.terminals):
                parts[readout, (look, before + (token,) * (token >= 0), token < 0)].add(item)
        return parts

    def split_stack(self, obligations):
        """Splits obligations by the next symbol down the stack; None is the bottom. Before the first split, a place is
        given directly as its element and the place below."""
        parts = defaultdict(lambda: defaultdict(set))
        for name, items in obligations.items():
            for label, place, past in items:
                for element, beneath in [place] if type(place) is tuple else self.beneath[place]:
                    parts[element[0]][name].add((label, beneath, past))
        return parts

    def cover(self, form):
        """Splits all stacks by the topmost symbol, then by the next one, until the cells of the certificate settle each
        case. Returns the decisions to bound, by cell."""
        cells = {}
        for cell in form:
            key = tuple(whole(symbol, len(self.automaton.names), "symbol") for symbol in cell["stack"]), cell.get("whole", False)
            require(key not in cells, "a cell stands twice")
            cells[key] = [[self.name(*numbers) for numbers in cell.get(part, [])] for part in ("split", "proved")]
        decisions, todo = {}, [((), False, self.obligations())]
        while todo:
            stack, end, left = todo.pop()
            require((stack, end) in cells, "a cell is missing")
            split, proved = cells.pop((stack, end))
            for name in split:
                require(name in left and not name[1][2], "what is split is not asked, or whole")
                for part, items in self.split_input(name, left.pop(name)).items():
                    left[part] |= items
            decisions[stack, end] = [self.decision(*name, left.pop(name, None)) for name in proved]
            require(not (end and left), "a cell is left open")
            for symbol, parts in self.split_stack(left).items():
                todo.append((stack, True, parts) if symbol is None else (stack + (symbol,), False, parts))
        require(not cells, "there are cells that nothing asks for")
        return decisions

    def name(self, readout, look, *before):
        end = before[-1:] == (END,)
        before = before[:-1] if end else before
        for token in before if look == END else (look, *before):
            whole(token, self.automaton.terminals, "token")
        return whole(readout, len(self.model.heads), "readout"), (look, before, end)

    def decision(self, readout, look, items):
        require(items, "a cell proves what is not asked")
        labels, known = {label for label, _, _ in items}, self.model.heads[readout][1]
        require(len(labels) == 1 and labels <= set(known), "a cell has two right answers, or one that the machine does not know")
        return readout, known.index(*labels), look

"""Machines with two stacks (docs/two-stacks.md): the teacher's text, the rules that simulate a Turing machine, the shape of
the configurations, and the cells. Written from the documentation, without any code of the library.

A suffix is a tuple of symbols from the top of the stack down, and whether it is the whole stack. A top is a symbol, or
None for an empty stack.
"""
import hashlib
import unicodedata
from collections import defaultdict
from functools import cache

from bounds import SURE, Bounds, Pairing, listed, voted
from model import Model, require, whole

END = -1                        # what is next at the end of the word
REFUSE = ("rest", False), None  # the decision where no rule applies
ANY = ((), False)


class TwoStackModel(Model):
    KEY = "echostack-two-stacks"
    NAMES = ("pop1", "push1", "pop2", "push2", "shift", "output")

    def read_form(self, form):
        self.view = "reservoir"  # a state of the first stack takes the place of that of an input
        self.outputs = form["outputs"]
        require(len(form["readouts"]) == self.terminals + 1, "there are not readouts for each token and the end")
        self.readouts = [[(list(map(self.label, labels[name])), self.read_head(f"next{number}.{name}", len(labels[name])))
                          for name in self.NAMES] for number, labels in enumerate(form["readouts"])]

    @staticmethod
    def label(label):
        return tuple(label) if isinstance(label, list) else label


class Names(dict):
    """Numbers names in the order in which they are first seen."""
    def number(self, name):
        return self.setdefault(name, len(self))


class Teacher:
    """Rules: (suffix, suffix, next, decision, name). A decision is a step and an output, and a step is ("rest", shift) or
    ("act", (pop, push), (pop, push))."""
    def __init__(self, text):
        require(not any(unicodedata.category(letter) == "Cc" for letter in text if letter not in "\t\n\r"), "a control character")
        lines = [(number, self.words(line)) for number, line in enumerate(text.split("\n"), 1)]
        lines = [(number, words) for number, words in lines if words]
        require(lines, "the teacher is empty")
        self.outputs, self.rules = Names(), []
        kind, rest = lines[0][1], lines[1:]
        require(kind in (["turing", "machine"], ["two", "stacks"]), "the teacher is of no known kind")
        header = {words[0]: words[1:] for _, words in rest if "->" not in words}
        require(len(header) == sum("->" not in words for _, words in rest), "a declaration stands twice")
        entries = [(number, words) for number, words in rest if "->" in words]
        (self.machine if kind[0] == "turing" else self.stacks)(header, entries)
        require(len(set(self.names)) == len(self.names), "a name stands twice")
        self.by_next = defaultdict(list)
        for rule in self.rules:
            for look in range(self.terminals) if rule[2] is None else [rule[2]]:
                self.by_next[look].append(rule)
            if rule[2] is None:
                self.by_next[END].append(rule)

    @staticmethod
    def words(line):
        words = line.split()
        ends = [at for at, word in enumerate(words) if word.startswith("//")]
        return words[:ends[0]] if ends else words

    def halves(self, words):
        at = words.index("->")
        left, right, output = words[:at], words[at + 1:], None
        if ":" in right:
            require(right.index(":") == len(right) - 2, "an output is misplaced")
            output, right = self.outputs.number(right[-1]), right[:-2]
        return left, right, output

    def machine(self, header, lines):
        symbols, states, table = Names(), Names(), {}
        for token in header.get("input", []):
            symbols.number(token)
        self.terminals = len(symbols)
        require(self.terminals == len(header.get("input", [])), "an input symbol stands twice")
        for line, words in lines:
            (state, *read), (after, write, move), output = self.halves(words)
            state, after = states.number(state), states.number(after)
            require(read and move in "LRS", "an entry is damaged")
            for name in read:
                a = symbols.number(name)
                b = a if write == "same" else symbols.number(write)
                require((state, a) not in table, "an entry stands twice")
                table[state, a] = after, b, move, output, line
        (blank,), (start,) = header["blank"], header["start"]
        blank, start = symbols.number(blank), states.number(start)
        require(blank >= self.terminals, "the blank is an input symbol")
        accepting = set(map(states.number, header.get("accept", [])))
        self.names = [*symbols, *states]

        def control(state):
            return len(symbols) + state

        for token in range(self.terminals):
            self.rules.append((ANY, ANY, token, (("rest", True), None), "loading the word"))
            act = "act", (1, ()), (0, (token,))
            self.rules.append((((token,), False), ANY, END, (act, None), "rewinding the word"))
        act = "act", (0, (control(start),)), (0, ())
        self.rules.append((((), True), ANY, END, (act, None), "the start"))
        for q in range(len(states)):
            for a in range(len(symbols)):
                # A blank under the head is on the second stack, or the second stack is empty.
                for second in [((a,), False)] + [((), True)] * (a == blank):
                    self.entry(table.get((q, a)), control(q), second, q in accepting, blank, len(symbols), control,
                               f"state {[*states][q]} and symbol {[*symbols][a]}")

    def entry(self, entry, top, second, accepts, blank, symbols, control, name):
        under = len(second[0])
        if entry is None:
            self.rules.append((((top,), False), second, END, (("rest", accepts), None), "halting in " + name))
            return
        after, b, move, output, line = entry
        p, name = control(after), f"the entry for {name} (line {line})"
        if move == "L":
            for c in range(symbols):
                act = "act", (2, (p,)), (under, (b, c))
                self.rules.append((((top, c), False), second, END, (act, output), name))
            act = "act", (1, (p,)), (under, (b, blank))
            self.rules.append((((top,), True), second, END, (act, output), name))
        else:
            changes = ((1, (b, p)), (under, ())) if move == "R" else ((1, (p,)), (under, (b,)))
            self.rules.append((((top,), False), second, END, (("act", *changes), output), name))

    def stacks(self, header, lines):
        self.names = header.get("input", []) + header.get("symbols", [])
        self.terminals = len(header.get("input", []))
        numbers = {name: number for number, name in enumerate(self.names)}
        for line, words in lines:
            left, right, output = self.halves(words)
            *sides, looks = self.parts(left)
            require(len(sides) == 2 and looks, "a rule is damaged")
            anchors = [side[:1] == ["^"] for side in sides]
            sides = [[numbers[name] for name in side[anchor:]] for side, anchor in zip(sides, anchors)]
            if len(right) == 1 and right[0] in ("shift", "accept", "refuse"):
                step = "rest", right[0] != "refuse"
            else:
                new = [[numbers[name] for name in side] for side in self.parts(right)]
                require(len(new) == 2, "a rule is damaged")
                step = "act", *map(self.change, sides, new)
                require(any(pop or push for pop, push in step[1:]), "a rule changes nothing")
            suffixes = [(tuple(reversed(side)), anchor) for side, anchor in zip(sides, anchors)]
            for look in looks:
                look = None if look == "*" else END if look == "end" else whole(numbers[look], self.terminals, "token")
                self.rules.append((*suffixes, look, (step, output), f"the rule in line {line}"))

    @staticmethod
    def parts(words):
        parts = [[]]
        for word in words:
            parts.append([]) if word == "|" else parts[-1].append(word)
        return parts

    @staticmethod
    def change(old, new):
        same = 0
        while same < min(len(old), len(new)) and old[same] == new[same]:
            same += 1
        return len(old) - same, tuple(new[same:])

    def decided(self, suffixes, look):
        """Returns the decision on all stacks with these suffixes and the name of the rule; None if there are several."""
        for *own, _, decision, name in self.by_next[look]:
            fits = [self.fit(rule, given) for rule, given in zip(own, suffixes)]
            if False in fits:
                continue
            return None if None in fits else (decision, name)
        return REFUSE, "no rule"

    @staticmethod
    def fit(rule, given):
        """Returns whether all stacks with the given suffix have that of the rule, or none has (False), or some (None)."""
        (symbols, anchored), (known, is_whole) = rule, given
        common = min(len(symbols), len(known))
        if symbols[:common] != known[:common] or (is_whole and len(symbols) > len(known)):
            return False
        if anchored and len(known) > len(symbols):
            return False
        if len(symbols) > len(known) or (anchored and not is_whole):
            return None
        return True


class TwoStacks:
    def __init__(self, model, teacher, form):
        require(set(form) == {"two_stacks", "teacher", "machine", "arithmetic", "shape", "cells"}, "the form is unknown")
        require(form["two_stacks"] == 1 and form["arithmetic"] == 1, "the version is unknown")
        self.model, self.teacher = TwoStackModel(model), Teacher(teacher.decode())
        require(form["machine"] == self.model.digest, "it is for another machine")
        require(form["teacher"] == hashlib.sha256(teacher).hexdigest(), "it is for another teacher")
        require(self.model.names == self.teacher.names and self.model.terminals == self.teacher.terminals
                and self.model.outputs == list(self.teacher.outputs), "the alphabets differ")
        self.looks = [*range(self.model.terminals), END]
        shape, count = form["shape"], len(self.model.names)
        self.beneath = [defaultdict(set), defaultdict(set)]
        for beneath, name in zip(self.beneath, ("first", "second")):
            for below, above in shape[name]:
                require(above > 0, "nothing lies on the top")
                beneath[self.top(above, count)].add(self.top(below, count))
        self.tops = {look: set() for look in self.looks}
        for number, first, second in shape["tops"]:
            self.tops[self.looks[whole(number, len(self.looks), "token")]].add((self.top(first, count), self.top(second, count)))
        self.trees = form["cells"]
        require(len(self.trees) == len(self.looks), "there is not a tree for each token and the end")
        self.bounds = Bounds(self.model)
        # Both sides are stacks, which any sequence of symbols may lead to.
        self.see = cache(lambda number, suffix: self.bounds.see(number, suffix[0][::-1], 0 if suffix[1] else count))

    @staticmethod
    def top(number, count):
        return whole(number, count + 1, "top") - 1 if number else None

    def confirm(self):
        for look in self.looks:
            require((None, None) in self.tops[look], "the start is missing")
            for tops in self.tops[look]:
                self.closed(look, *tops)
        cells, least = 0, SURE
        for number, (look, tree) in enumerate(zip(self.looks, self.trees)):
            for suffixes in self.leaves(look, tree):
                cells, least = cells + 1, min(least, self.margin(number, look, suffixes))
        return f"machine with two stacks: {cells} cells, smallest margin {float(least):.6g}"

    @staticmethod
    def of(top):
        return ((), True) if top is None else ((top,), False)

    def longer(self, number, suffix):
        symbols, is_whole = suffix
        require(symbols and not is_whole, "a whole stack is split")
        order = sorted(self.beneath[number][symbols[-1]], key=lambda top: -1 if top is None else top)
        return [(symbols, True) if top is None else (symbols + (top,), False) for top in order]

    def closed(self, look, first, second):
        """Checks that no rule leads out of the shape from the configurations with these tops."""
        open_ = [(self.of(first), self.of(second))]
        while open_:
            suffixes = open_.pop()
            found = self.teacher.decided(suffixes, look)
            if found is None:
                # One side at a time, until the same rule decides on all of them.
                number = self.undecided(suffixes, look)
                open_ += [tuple(longer if at == number else own for at, own in enumerate(suffixes))
                          for longer in self.longer(number, suffixes[number])]
                continue
            (step, _), name = found
            if step[0] == "rest":
                if step[1] and look != END:
                    require(first in self.beneath[0][look], f"the shape is not closed under {name}")
                    for after in self.looks:
                        require((look, second) in self.tops[after], f"the shape is not closed under {name}")
                continue
            after = [self.change(number, suffixes[number], *step[1 + number], name) for number in (0, 1)]
            for a in after[0]:
                for b in after[1]:
                    require((a, b) in self.tops[look], f"the shape is not closed under {name}")

    def undecided(self, suffixes, look):
        for *own, _, _, _ in self.teacher.by_next[look]:
            fits = [self.teacher.fit(rule, given) for rule, given in zip(own, suffixes)]
            if False not in fits and None in fits:
                return fits.index(None)
        raise AssertionError("a rule decides")

    def change(self, number, suffix, pop, push, name):
        symbols, is_whole = suffix
        require(pop <= len(symbols), f"{name} pops more than it looks at")
        left = symbols[pop:]
        tops = {left[0]} if left else {None} if is_whole else self.beneath[number][symbols[-1]]
        for symbol in push:
            require(tops <= self.beneath[number][symbol], f"the shape is not closed under {name}")
            tops = {symbol}
        return tops

    def leaves(self, look, tree):
        """Yields the suffixes of the cells that are proved. Each cell is split into all parts that the shape has."""
        waiting, letters = [(ANY, ANY, self.tops[look])], iter(tree)
        while waiting:
            first, second, tops = waiting.pop()
            letter = next(letters, None)
            require(letter in tuple(".12"), "a tree is damaged")
            if letter == ".":
                yield first, second
                continue
            number = int(letter) - 1
            own = (first, second)[number]
            if own == ANY:
                order = sorted({top[number] for top in tops}, key=lambda top: -1 if top is None else top)
                parts = [(self.of(top), {pair for pair in tops if pair[number] == top}) for top in order]
            else:
                parts = [(longer, tops) for longer in self.longer(number, own)]
            waiting += [(part, second, rest) if number == 0 else (first, part, rest) for part, rest in reversed(parts)]
        require(next(letters, None) is None, "a tree is damaged")

    def margin(self, number, look, suffixes):
        found = self.teacher.decided(suffixes, look)
        require(found is not None, f"different rules decide on {suffixes}")
        (step, output), name = found
        none = (0, ())
        changes = step[1:] if step[0] == "act" else (none, none)
        wanted = [changes[0][0], changes[0][1], changes[1][0], changes[1][1], step[1] if step[0] == "rest" else None, output]
        least, sights = SURE, [self.see(side, suffix) for side, suffix in enumerate(suffixes)]
        pairing = cache(lambda kernel: Pairing(self.model.kernels, kernel, *sights))
        for place, (labels, head) in enumerate(self.model.readouts[number]):
            if self.model.NAMES[place] == "shift" and step[0] == "act":
                continue
            told = f"{self.model.NAMES[place]} is not certain to follow {name} on the stacks {suffixes}"
            # Whether to shift is a truth value, which equals a number in Python.
            own = [at for at, label in enumerate(labels) if label == wanted[place] and type(label) is type(wanted[place])]
            require(own, told)
            if head is None:
                continue
            kind, parts, last = head
            if kind == "list":
                margin = listed(parts, last, own[0], *sights)
            else:
                margin = voted(*parts, len(labels), own[0], pairing(last))
            require(margin > 0, told)
            least = min(least, margin)
        return least

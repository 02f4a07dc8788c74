"""Whether an automaton follows a grammar, decided from the text of the grammar: the translation is not trusted.

There are three parts: a reader of Yacc syntax, an LR(1) parser for its rules, and a comparison of this parser with the
automaton. What the reader does not understand is refused.

The parser has canonical LR(1) states; with `%define lr.type lalr`, states with the same items are merged. Precedences
resolve conflicts in each state, as in bison, and what they leave is resolved by a shift, or else by the first
production. On each lookahead, a state shifts, reduces, accepts, is FORBIDDEN to go on by %nonassoc, or has NONE of these
because nothing in the rules allows the lookahead.

The comparison visits all pairs of a parser state and an element of the automaton that are reached by the same stack of
grammar symbols. In each pair and on each lookahead, the following must hold (`AGREES` and `Pairs.visit`):
- If the parser reduces, accepts or is forbidden to go on, then so does, or is, the automaton.
- If the parser shifts, then the automaton has no rule. It shifts, too, unless the parser can accept nothing afterwards.
- If the parser has no action, the automaton does not shift or accept. It may reduce, but only by a production that is
  complete in the parser's state. This happens where an encoding reduces without looking at the next token.

Why this suffices: by induction over the steps of a word, both have the same stack of grammar symbols, up to such
additional reductions.
- What the parser accepts, the automaton accepts: on an accepted word, the parser always has an action, and each stack
  after a shift is one from which something is accepted. So the automaton does the same in each step.
- What the automaton accepts, the parser accepts: a difference begins where the automaton reduces by some A -> alpha
  before a token t (or the end) although the parser has no action. Its stack remains a stack that the rules allow,
  because the production is complete. If it later shifted t, in a pair in which the parser shifts t, then t could follow
  that stack by the rules. Undoing the reductions is a rightmost derivation, so t could follow A here. But then t is a
  lookahead of the complete production in the LR(1) state, or in the state that it is merged into, and the parser has an
  action, or is forbidden to go on: precedences never remove all actions without forbidding the token. The same holds
  for acceptance. So the automaton refuses t, as the parser does.
Neither reduces forever: then some element would stay on the stack from some time on, with endless reductions above it,
and `Pairs.stop` refuses this.
"""
import re
from collections import defaultdict
from functools import cache

from certificate import END
from model import Refused, require

MOST_STATES = 200_000
MOST_ITEMS = 1 << 23       # the maximum number of items in all states, of pairs, and of goals in the search for dead ends
MOST_REDUCTIONS = 10_000   # the maximum number of reductions before one token, with nothing popped below them
SHIFT, REDUCE, ACCEPT, FORBIDDEN, NONE = "shift", "reduce", "accept", "forbidden", "none"

# The text. A token of it is a pair of its kind and its text.

NAME = "[A-Za-z_.][A-Za-z0-9_.-]*"
TAG = "<(?:->|-(?!>)|[^<>\\n-])*>"
for _ in range(3):  # tags within tags
    TAG = f"<(?:->|-(?!>)|[^<>\\n-]|{TAG})*>"
TOKEN = re.compile(rf"""
    (?P<space> [ \t\n\r\f\v,\ufeff]+ | //[^\n]* | /\*.*?\*/
             | %(?:actiontype|parse[-_]param|parse[-_]generics)[ \t]+[^{{\s][^\n]* )   # as in grmtools: a line of Rust
  | (?P<separator> %% ) | (?P<prologue> %\{{ ) | (?P<code> \{{ ) | (?P<directive> %{NAME} )
  | (?P<character> '(?:\\[^\n]|[^'\\\n])+' ) | _\((?P<translated> "(?:\\[^\n]|[^"\\\n])+" )\)
  | (?P<text> "(?:\\[^\n]|[^"\\\n])+" )
  | (?P<number> 0[xX][0-9A-Fa-f]+(?![A-Za-z]) | [0-9]+(?![0-9A-Za-z]) ) | (?P<name> {NAME} )
  | (?P<tag> {TAG} ) | (?P<reference> \[[ \t]*{NAME}[ \t]*\] ) | (?P<mark> [:|;=] )
""", re.X | re.S)
CODE = re.compile(r"""(?P<comment> //[^\n]* | /\*(?:.*?\*/|.*) )
  | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | (?P<mark> %\} | [{}] ) | (?P<digraph> <% | %> ) | [^/"'{}%<]+ | .""", re.X | re.S)
ESCAPES = dict(zip("abfnrtv'\"?\\", "\a\b\f\n\r\t\v'\"?\\"))
NUMBERED = ("[uU]([0-9A-Fa-f]+)", 16, 0x110000), ("x([0-9A-Fa-f]+)", 16, 128), ("([0-7]{1,3})", 8, 128)
PASSED_OVER = """actiontype avoid-insert code debug defines destructor epp error-verbose expect-unused file-prefix
    fixed-output-files grmtools header ident initial-action language lex-param locations name-prefix no-lines
    nondeterministic-parser nterm output param parse-generics parse-param printer pure-parser require token-table type
    union verbose yacc""".split()
LEVELS = {"left": "left", "right": "right", "nonassoc": "nonassoc", "binary": "nonassoc", "precedence": None}


def tokens(text):
    """Yields the tokens of a grammar, up to the second %%, after which there is code."""
    at, separators = 0, 0
    while at < len(text) and separators < 2:
        found = TOKEN.match(text, at)
        require(found, f"the grammar has something unknown at {text[at:at + 20]!r}")
        kind, at = found.lastgroup, found.end()
        if kind in ("code", "prologue"):
            start, at = found.start(), code_end(text, at, kind == "prologue")
            yield kind, text[start + 1:at - 1]
        elif kind == "directive":
            yield kind, found[kind][1:].replace("_", "-")
        elif kind in ("character", "text", "translated"):
            yield "text" if kind == "translated" else kind, literal(found[kind][1:-1])
        elif kind != "space":
            separators += kind == "separator"
            yield kind, found[kind]


def code_end(text, at, prologue):
    """Returns the position after a block of code. Braces in comments and literals do not count."""
    depth = 1
    for piece in CODE.finditer(text, at):
        spliced = piece["comment"] and piece[0].startswith("//") and piece[0].endswith("\\")
        require(not spliced and (prologue or not piece["digraph"]), "the grammar has code that is not understood")
        if prologue:
            depth -= piece["mark"] == "%}"
        else:
            depth += (piece["mark"] == "{") - (piece["mark"] in ("}", "%}"))
        if depth == 0:
            return piece.end()
    raise Refused("the grammar has code that does not end")


def literal(inside):
    """Returns the name of a token that is written in quotes. A character has one name, however it is written."""
    letter = inside if len(inside) == 1 else None
    if inside[0] == "\\":
        letter = ESCAPES.get(inside[1:])
        for pattern, base, limit in NUMBERED:
            digits = re.fullmatch(pattern, inside[1:])
            number = int(digits[1], base) if digits else limit
            if number < limit and not 0xD800 <= number < 0xE000:
                letter = chr(number)
    if letter is None:
        return inside.replace('\\"', '"').replace("\\'", "'")
    if letter in "\a\b\f\n\r\t\v\0":
        return "\\" + "abfnrtv0"["\a\b\f\n\r\t\v\0".index(letter)]
    return f"\\x{ord(letter):02x}" if ord(letter) < 32 or 127 <= ord(letter) < 160 else letter


class Reader:
    """What a text says. Symbols are pairs: a name, a character or a text in quotes, and its name."""
    def __init__(self, text):
        self.tokens, self.at = [*tokens(text), ("end", "")], 0
        self.declared, self.order, self.ends, self.aliases, self.levels = set(), [], set(), {}, []
        self.precedence, self.default, self.start, self.lefts, self.rules = {}, True, None, [], []
        self.type, self.glr, self.in_rules = None, False, False
        while not self.skip("separator"):
            self.declaration()
        self.in_rules = True
        while self.kind not in ("end", "separator"):
            self.rule() if self.begins_rule() else self.declaration()

    @property
    def kind(self):
        return self.tokens[self.at][0]

    def take(self, *kinds):
        """Returns the text of the next token, which must be of one of these kinds."""
        kind, text = self.tokens[self.at]
        require(kind in kinds, f"the grammar has {text!r:.40} where {' or '.join(kinds)} is expected")
        self.at += 1
        return text

    def skip(self, *kinds):
        """Passes over the next token if it is of one of these kinds, and returns whether it is."""
        self.at += (skipped := self.kind in kinds)
        return skipped

    def symbol(self):
        return self.kind, self.take("name", "character", "text")

    def begins_rule(self):
        """Returns whether a name with a colon follows: the semicolon before a rule is optional."""
        kinds, after = [kind for kind, _ in self.tokens[self.at:self.at + 2]], self.at + 1
        after += kinds[1:] == ["reference"]
        return kinds[0] == "name" and self.tokens[after] == ("mark", ":")

    def is_symbol(self):
        return self.kind in ("name", "character", "text") and not self.begins_rule()

    def declaration(self):
        if self.kind == "prologue" or self.tokens[self.at] == ("mark", ";"):
            self.at += 1
            return
        name = self.take("directive")
        if name in ("token", "term"):
            self.token_declaration()
        elif name in LEVELS:
            self.levels.append(LEVELS[name])
            while self.is_symbol() or self.kind in ("tag", "number"):
                if not self.skip("tag", "number"):
                    symbol = self.symbol()
                    require(symbol not in self.precedence, f"{symbol[1]} has two precedences")
                    self.declared.add(symbol)
                    self.precedence[symbol] = len(self.levels), self.levels[-1]
        elif name == "start":
            start = self.symbol()
            require(self.start in (None, start) and not self.is_symbol(), "the grammar has two start symbols")
            self.start = start
        elif name in ("expect", "expect-rr"):
            self.take("number")
        elif name in ("default-prec", "no-default-prec"):
            require(not self.in_rules, f"%{name} among the rules is not supported")
            self.default = name == "default-prec"
        elif name == "define":
            self.definition()
        else:
            self.glr |= name == "glr-parser" or name == "skeleton" and self.tokens[self.at][1].startswith("glr")
            require(name in ("glr-parser", "skeleton", *PASSED_OVER), f"the declaration %{name} is unknown")
            self.pass_over()

    def pass_over(self):
        while self.kind not in ("directive", "separator", "prologue", "end") and self.tokens[self.at] != ("mark", ";"):
            if self.begins_rule():
                return
            self.at += 1

    def definition(self):
        """Reads a %define. Only lr.type concerns the language."""
        if self.take("name") == "lr.type":
            value = self.take("name", "text", "code").strip()
            require(value in ("lalr", "ielr", "canonical-lr"), f"the lr.type {value!r:.40} is unknown")
            require(self.type in (None, value), "the grammar has two values of lr.type")
            self.type = value
        self.pass_over()

    def token_declaration(self):
        named = None  # the token that a number or an alias may follow
        while self.is_symbol() or self.kind in ("tag", "number"):
            if self.skip("tag"):
                named = None
            elif self.kind == "number" or self.kind == "text":
                kind, text = self.kind, self.take("number", "text")
                require(named, f"{text} stands for no token")
                if kind == "number":
                    self.ends |= {named} if int(text, 0 if "x" in text.lower() else 10) == 0 else set()
                else:
                    require(self.aliases.setdefault(text, named) == named, f"{text} stands for two tokens")
                    named = None
            else:
                named = self.symbol()
                self.declared.add(named)
                self.order.append(named)

    def rule(self):
        left = self.symbol()
        require(left[1] != "error", "error has rules")
        self.lefts += [left] if left not in self.lefts else []
        self.start = self.start or left
        self.skip("reference")
        while True:
            self.take("mark")  # the colon, or a bar
            self.production(left)
            while self.tokens[self.at] == ("mark", ";"):
                self.at += 1
            if self.tokens[self.at] != ("mark", "|"):
                return

    def production(self, left):
        right, precedence, empty = [], None, False
        while True:
            if self.is_symbol():
                right.append(self.symbol())
            elif self.tokens[self.at] == ("directive", "empty"):
                self.at, empty = self.at + 1, True
            elif self.tokens[self.at] == ("directive", "prec"):
                self.at += 1
                require(precedence is None, "a production has two precedences")
                precedence = self.symbol()
            elif self.tokens[self.at] in (("directive", "dprec"), ("directive", "merge")):
                self.at += 1
                self.take("number", "tag")
            elif self.tokens[self.at] in (("directive", "expect"), ("directive", "expect-rr")):
                raise Refused("%expect in a production is not supported")
            elif not self.skip("code", "tag", "reference"):
                break
        ends = self.kind in ("directive", "separator", "end") or self.tokens[self.at] in (("mark", "|"), ("mark", ";"))
        require(ends or self.begins_rule(), f"the grammar has {self.tokens[self.at][1]!r:.40} in a production")
        require(not (empty and right), "%empty is in a production that is not empty")
        if not {("name", "error"), ("name", "YYerror")} & set(right):
            self.rules.append((left, right, precedence))

    def meant(self, symbol):
        """Returns the symbol that a symbol stands for: aliases stand for tokens, and a token has one name."""
        kind, name = symbol
        if kind == "text" and name in self.aliases:
            return self.aliases[name]
        return ("name", name) if kind == "name" or ("name", name) in self.declared else ("character", name)

    def is_terminal(self, symbol):
        return symbol in self.declared or symbol[0] != "name"


class Grammar:
    """Rules with numbers for symbols, terminals first: those declared, in this order, and then in order of occurrence.
    Nonterminals have the order of their first rules. A production is a pair of a left and a right side."""
    def __init__(self, text):
        file = Reader(text)
        require(file.start in file.lefts, "the start symbol has no rules")
        require(not file.declared & set(file.lefts), "a token has rules")
        parts = [file.meant(symbol) for _, right, _ in file.rules for symbol in right]
        for symbol in parts:
            known = file.is_terminal(symbol) or symbol in file.lefts
            require(known and symbol not in file.ends and symbol[1] != "YYEOF", f"{symbol[1]} has no rules, or is the end")
        occurring = set(parts)
        declared = [symbol for symbol in file.order if symbol in occurring]
        terminals = list(dict.fromkeys([*declared, *filter(file.is_terminal, parts)]))
        self.names, numbers = [], {symbol: number for number, symbol in enumerate(terminals + file.lefts)}
        for _, name in numbers:
            while name in self.names:  # a nonterminal may have the same name as a literal
                name = f"<{name}>"
            self.names.append(name)
        levels = {}
        for symbol, level in file.precedence.items():
            require(levels.setdefault(file.meant(symbol), level) == level, f"{symbol[1]} has two precedences")
        self.precedences, self.productions, self.production_precedences = [levels.get(symbol) for symbol in terminals], [], []
        for left, right, named in file.rules:
            right, last = [file.meant(symbol) for symbol in right], None
            if named:
                last = file.meant(named)
                require(file.is_terminal(last), f"{named[1]} is no token, so it has no precedence")
            elif file.default:
                last = next(filter(file.is_terminal, reversed(right)), None)
            self.productions.append((numbers[left], tuple(numbers[symbol] for symbol in right)))
            self.production_precedences.append(levels.get(last))
        self.terminals, self.start, self.merged, self.glr = len(terminals), numbers[file.start], file.type == "lalr", file.glr
        self.trim()

    def derive(self, derived):
        """Returns the symbols that derive a sequence of these symbols."""
        derived, before = set(derived), None
        while before != len(derived):
            before = len(derived)
            derived |= {left for left, right in self.productions if derived.issuperset(right)}
        return derived

    def trim(self):
        """Leaves out the symbols that derive no word or cannot be reached from the start."""
        productive, reached, before = self.derive(range(self.terminals)), {self.start}, None
        require(self.start in productive, "the language is empty")
        kept = [production for production in self.productions if productive.issuperset(production[1])]
        while before != len(reached):
            before = len(reached)
            reached |= {symbol for left, right in kept if left in reached for symbol in right}
        order = sorted(reached)
        numbers = {symbol: number for number, symbol in enumerate(order)}
        rules = [(rule, level) for rule, level in zip(self.productions, self.production_precedences)
                 if rule[0] in reached and productive.issuperset(rule[1])]
        self.productions = [(numbers[left], tuple(numbers[symbol] for symbol in right)) for (left, right), _ in rules]
        self.production_precedences = [level for _, level in rules]
        self.precedences = [self.precedences[symbol] for symbol in order if symbol < self.terminals]
        self.names, self.start = [self.names[symbol] for symbol in order], numbers[self.start]
        self.terminals = len(self.precedences)


class Parser:
    """The LR(1) parser of a grammar. States are computed when they are needed; state 0 is the first.

    A set of lookaheads is represented by the bits of a number; the end is the bit after the last terminal. An item is a
    number: the place of its dot, counted through all productions. The last production is the one that accepts.
    """
    def __init__(self, grammar):
        self.grammar, self.accepting = grammar, len(grammar.productions)
        self.productions, self.following, self.ended, self.first_items = [], [], {}, defaultdict(list)
        for left, right in [*grammar.productions, (None, (grammar.start,))]:
            self.first_items[left].append(len(self.following))
            self.ended[len(self.following) + len(right)] = len(self.productions)
            self.productions.append((left, right))
            self.following += [*right, None]
        self.find_first()
        self.kernels, self.numbers, self.work = [], {}, 0
        self.expand, self.action = cache(self.expand), cache(self.action)
        self.number(((self.first_items[None][0], self.bit(END)),))
        if grammar.merged:
            self.merge()

    def bit(self, look):
        return 1 << look % (self.grammar.terminals + 1)

    def find_first(self):
        """Computes, for each item, the tokens that what follows the symbol after its dot can begin with, and whether
        that can be empty."""
        nullable, before = self.grammar.derive(()), None
        first = {symbol: self.bit(symbol) if symbol < self.grammar.terminals else 0 for symbol in range(len(self.grammar.names))}
        self.rest = [(0, True)] * len(self.following)
        while before != first:
            before = dict(first)
            for item in reversed(range(len(self.following) - 1)):
                symbol = self.following[item + 1]
                if symbol is not None and self.following[item] is not None:
                    looks, empty = self.rest[item + 1]
                    self.rest[item] = first[symbol] | looks * (symbol in nullable), empty and symbol in nullable
            for left, right in self.grammar.productions:
                for symbol in right:
                    first[left] |= first[symbol]
                    if symbol not in nullable:
                        break

    def place(self, item):
        """Returns the left side of an item's production, and the number of symbols before the dot."""
        end = self.following.index(None, item)
        left, right = self.productions[self.ended[end]]
        return left, len(right) - (end - item)

    def key(self, kernel):
        return tuple(item for item, _ in kernel) if self.grammar.merged else kernel

    def number(self, kernel):
        """Returns the number of the state with these items before the closure, which are pairs of item and looks."""
        number = self.numbers.setdefault(self.key(kernel), len(self.kernels))
        if number == len(self.kernels):
            require(number < MOST_STATES, f"the grammar has more than {MOST_STATES} LR(1) states")
            self.kernels.append(kernel)
        return number

    def close(self, kernel):
        """Returns the complete productions of a state with their lookaheads, and the kernels that symbols lead to."""
        looks, todo = {}, []

        def expect(item, ahead):
            symbol = self.following[item]
            if symbol is not None and symbol >= self.grammar.terminals:
                first, empty = self.rest[item]
                ahead = first | ahead * empty | looks.get(symbol, 0)
                if ahead != looks.get(symbol):
                    looks[symbol] = ahead
                    todo.append(symbol)
        for item, ahead in kernel:
            expect(item, ahead)
        while todo:
            symbol = todo.pop()
            for item in self.first_items[symbol]:
                expect(item, looks[symbol])
        complete, after = {}, defaultdict(list)
        for item, ahead in [*kernel, *((item, ahead) for symbol, ahead in looks.items() for item in self.first_items[symbol])]:
            self.work += 1
            if self.following[item] is None:
                complete[self.ended[item]] = ahead
            else:
                after[self.following[item]].append((item + 1, ahead))
        require(self.work < MOST_ITEMS, f"the grammar has more than {MOST_ITEMS} items in its LR(1) states")
        return complete, {symbol: tuple(sorted(items)) for symbol, items in after.items()}

    def merge(self):
        """Unites the lookaheads of all states with the same items."""
        todo = [0]
        while todo:
            for kernel in self.close(self.kernels[todo.pop()])[1].values():
                fresh, number = len(self.kernels), self.number(kernel)
                united = tuple((item, a | b) for (item, a), (_, b) in zip(kernel, self.kernels[number]))
                if number == fresh or united != self.kernels[number]:
                    self.kernels[number] = united
                    todo.append(number)

    def expand(self, state):
        """Returns the complete productions of a state with their lookaheads, and the states that symbols lead to."""
        complete, after = self.close(self.kernels[state])
        return complete, {symbol: self.number(kernel) for symbol, kernel in after.items()}

    def action(self, state, look):
        """Returns the action of a state, with the production if it is a reduction."""
        complete, after = self.expand(state)
        shift, forbidden, reductions = look in after, False, []
        for production, looks in sorted(complete.items()):
            if not looks & self.bit(look):
                continue
            own = None if production == self.accepting else self.grammar.production_precedences[production]
            other = None if look == END else self.grammar.precedences[look]
            if shift and own and other:
                (level, _), (against, associativity) = own, other
                if level == against and associativity == "nonassoc":
                    shift, forbidden = False, True
                    continue
                if level < against or level == against and associativity == "right":
                    continue
                if level > against or associativity == "left":
                    shift = False
            reductions.append(production)
        conflict = shift + len(reductions) > 1
        require(not (conflict and self.grammar.glr), "a GLR parser follows both sides of a conflict")
        require(not (conflict and self.accepting in reductions), "a nonterminal derives itself")
        if forbidden:
            return FORBIDDEN, None
        if shift:
            return SHIFT, None
        if not reductions:
            return NONE, None
        return (ACCEPT, None) if reductions[0] == self.accepting else (REDUCE, reductions[0])


class Ends:
    """Finds the stacks of a parser from which nothing is accepted: pre* of acceptance (cf. `Automaton.saturate`).

    A goal is a control with a state on top. A control is ("next",), when a token is read; (look, left, symbol), when
    `left` states are still to be popped and then a symbol is pushed; or ("accepted",). The outcomes of a goal are the
    controls that it can lead to with its state popped and everything below untouched.
    """
    def __init__(self, parser):
        self.parser, self.looks = parser, [*range(parser.grammar.terminals), END]
        self.outcomes, self.users, self.accepted_from = {}, defaultdict(set), cache(self.accepted_from)

    def solve(self, goal):
        """Returns the outcomes of a goal, after computing those of all goals that it depends on."""
        todo = [goal] if goal not in self.outcomes else []
        self.outcomes.setdefault(goal, set())
        while todo:
            at = todo.pop()
            fresh, asked = self.follow(*at)
            for other in asked:
                self.users[other].add(at)
                if other not in self.outcomes:
                    self.outcomes[other] = set()
                    todo.append(other)
            require(len(self.outcomes) < MOST_ITEMS, "the search for dead ends takes too much work")
            if not fresh <= self.outcomes[at]:
                self.outcomes[at] |= fresh
                todo += self.users[at]
        return self.outcomes[goal]

    def follow(self, control, state):
        """Returns what follows from the known outcomes of other goals, and these goals."""
        if control == ("next",):
            asked = {((look,), state) for look in self.looks}
            return set().union(*(self.outcomes.get(goal, ()) for goal in asked)), asked
        look, after = control[0], self.parser.expand(state)[1]
        if len(control) == 1:  # a token is known, and an action is decided
            action, production = self.parser.action(state, look)
            if action == ACCEPT:
                return {("accepted",)}, ()
            if action == REDUCE:
                left, right = self.parser.productions[production]
                return ({(look, len(right) - 1, left)}, ()) if right else self.push(((look,), after[left]), state)
            return self.push((("next",), after[look]), state) if action == SHIFT else (set(), ())
        return self.push(((look,), after[control[2]]), state) if control[2] in after else (set(), ())

    def push(self, above, state):
        """Returns the outcomes if the goal `above` is on top of a state."""
        reached, asked = set(), {above}
        for control in self.outcomes.get(above, ()):
            if control == ("accepted",):
                reached.add(control)
            elif control[1]:
                reached.add((control[0], control[1] - 1, control[2]))
            else:
                asked.add((control, state))
                reached |= self.outcomes.get((control, state), set())
        return reached, asked

    def accepted_from(self, beneath, state):
        """Returns the controls from which a stack is accepted, given those of the stack below its top."""
        pushed = [symbol for symbol in self.parser.expand(state)[1] if symbol >= self.parser.grammar.terminals]
        asked = [("next",), *((look, 0, symbol) for symbol in pushed for look in self.looks)]
        found = {control for control in asked if not self.solve((control, state)).isdisjoint(beneath | {("accepted",)})}
        within = {self.parser.place(item) for item, _ in self.parser.kernels[state]}
        deeper = [control for control in beneath if len(control) == 3]
        found |= {(look, left + 1, symbol) for look, left, symbol in deeper if (symbol, left + 1) in within}
        return frozenset(found)


# For each action of the parser: whether the automaton agrees, given its rule as (pop, push), or None; whether it shifts
# the lookahead or accepts if there is no rule; and the productions that it may reduce by. Whether it shifts what the
# parser shifts is decided in `Pairs.visit`.
AGREES = {
    SHIFT: lambda rule, goes_on, allowed: rule is None,
    REDUCE: lambda rule, goes_on, allowed: rule in allowed,
    ACCEPT: lambda rule, goes_on, allowed: rule is None and goes_on,
    FORBIDDEN: lambda rule, goes_on, allowed: rule is None and not goes_on,
    NONE: lambda rule, goes_on, allowed: rule in allowed if rule else not goes_on,
}


class Pairs:
    """All pairs of a parser state and an element that are reached by the same stack of grammar symbols."""
    def __init__(self, grammar, automaton):
        self.parser, self.automaton = Parser(grammar), automaton
        own = [number for number in range(len(automaton.names)) if number not in automaton.parser_states]
        # Symbols have the same numbers in both if the states come last.
        require(own == list(range(len(grammar.names))), "the symbols of the grammar are not the first of the automaton")
        require([automaton.names[number] for number in own] == grammar.names and automaton.terminals == grammar.terminals,
                "the automaton's symbols are not those of the grammar")
        self.push = cache(self.push)
        self.visit(None)
        # If the automaton shifts wherever the parser does, it does the same on dead stacks, and need not know them.
        if any(map(self.refuses, list(self.reached))):
            self.visit(Ends(self.parser))

    def push(self, element, symbol):
        """Returns the element of the stack with one more grammar symbol. If the stack holds parser states, a rule
        replaces the symbol by a state, whatever comes next."""
        pushed = self.automaton.push(element, symbol)
        if not self.automaton.parser_states:
            return pushed
        replaced = {self.automaton.action(pushed[1], look) for look in self.automaton.looks}
        require(len(replaced) == 1, "a symbol is not always replaced by the same parser state")
        (pop, state), = replaced
        require(pop == 1 and state in self.automaton.parser_states, "a symbol is not replaced by a parser state")
        return self.automaton.push(element, state)

    def visit(self, ends):
        """Compares all pairs. With `ends`, the automaton must refuse what the parser shifts exactly where the parser can
        accept nothing afterwards."""
        first = 0, self.automaton.bottom, ends.accepted_from(frozenset(), 0) if ends else None
        self.reached, todo = {first: None}, [first]
        while todo:
            pair = state, element, live = todo.pop()
            require(len(self.reached) < MOST_ITEMS, "the comparison takes too much work")
            for look in self.automaton.looks:
                self.require(self.agree(state, element, look) and self.stop(state, element, look), pair, look)
            for symbol, then in self.parser.expand(state)[1].items():
                after = ends.accepted_from(live, then) if ends else None
                if symbol < self.automaton.terminals:
                    if self.parser.action(state, symbol)[0] != SHIFT:
                        continue
                    shifts = self.automaton.shifts(element, symbol)
                    self.require(not ends or shifts == (("next",) in after), pair, symbol)
                    if not shifts:
                        continue
                further = then, self.push(element, symbol), after
                if further not in self.reached:
                    self.reached[further] = pair, symbol
                    todo.append(further)

    def refuses(self, pair):
        """Returns whether the automaton refuses a token that the parser shifts."""
        state, element, _ = pair
        shifted = [look for look in self.automaton.looks if self.parser.action(state, look)[0] == SHIFT]
        return not all(self.automaton.shifts(element, look) for look in shifted)

    def agree(self, state, element, look):
        """Returns whether the automaton has the action of the parser."""
        action, production = self.parser.action(state, look)
        pop, push = self.automaton.action(element[1], look)
        goes_on = element[1] in self.automaton.accepting if look == END else self.automaton.shifts(element, look)
        numbers = [production] if action == REDUCE else self.parser.expand(state)[0]
        allowed = {(len(right), left) for left, right in map(self.parser.productions.__getitem__, numbers)}
        return AGREES[action](None if push is None else (pop, push), goes_on, allowed)

    def stop(self, state, element, look):
        """Returns whether the automaton stops reducing before one token, as long as nothing below is popped."""
        stack = [(state, element)]
        for _ in range(MOST_REDUCTIONS):
            pop, push = self.automaton.action(stack[-1][1][1], look)
            if push is None or pop >= len(stack):
                return True
            del stack[len(stack) - pop:]
            state, element = stack[-1]
            after = self.parser.expand(state)[1]
            if push not in after:  # this rule has been refused, or will be
                return True
            stack.append((after[push], self.push(element, push)))
        return False

    def require(self, condition, pair, look):
        """Refuses the automaton, with the stack and the lookahead, unless a condition holds."""
        if not condition:
            stack, action = [], self.parser.action(pair[0], look)[0]
            while self.reached[pair]:
                pair, symbol = self.reached[pair]
                stack.append(self.automaton.names[symbol])
            ahead = "the end" if look == END else self.automaton.names[look]
            stack = " ".join(stack[::-1])
            raise Refused(f"the automaton does not follow the grammar ({action}) on the stack [{stack}] before {ahead}")


def check_translation(text, automaton):
    """Checks that an automaton follows a grammar, and returns a summary. Raises `Refused` if it does not."""
    pairs = Pairs(Grammar(text), automaton)
    return f"{len(pairs.parser.kernels)} LR(1) states, {len(pairs.reached)} pairs"

"""Model files (docs/format.md), their digest, and the preconditions of the error model.

A number that refers to something that does not exist causes an `IndexError` where it is used, which refuses the
certificate like any other error.
"""
import hashlib
import json
import math
from array import array

from flint import arb

# The preconditions, named after their lemmas in docs/proof. If they hold, no sum overflows.
LARGEST = 2.0**48       # the maximum absolute value of a number that takes part in a decision
LEAST_LEAK = 2.0**-20
MOST_TERMS = 2**24      # the maximum number of terms of a pair, members and support vectors of a kernel, conditions
MOST_NEURONS = 4096


class Refused(Exception):
    """The reason why a certificate is not confirmed."""


def require(condition, why):
    if not condition:
        raise Refused(why)


def whole(value, limit, what):
    """Checks that a value is an integer from 0 to below `limit`, and returns it."""
    require(type(value) is int and 0 <= value < limit, f"{value!r:.40} is no {what}")
    return value


class Model:
    KEY = "echostack"

    def __init__(self, data):
        start = 8 + int.from_bytes(data[:8], "little")
        require(start <= len(data), "this is no model file")
        table, body = json.loads(data[8:start]), data[start:]
        text = table.pop("__metadata__")[self.KEY]
        form = json.loads(text)
        require(form["version"] == 1 and list(form)[-1] == "manifest", "the model is of another version")
        self.digest, self.manifest = digest(self.KEY, table, text, body), form["manifest"]
        self.tensors = {name: tensor(name, body, **entry) for name, entry in table.items()}
        self.terminals, self.names = len(form["terminals"]), form["terminals"] + form["nonterminals"]
        self.read_reservoir(form)
        self.read_projection()
        self.read_form(form)

    def read_form(self, form):
        """Reads what is in the header of a machine with one stack."""
        self.view = form["view"]
        require(self.view in ("symbol", "reservoir") and form["mode"] == "strict", "the machine is not strict, or sees otherwise")
        self.read_readouts(form["actions"], form["output"], form["shift"])

    def read_reservoir(self, form):
        self.kind = form["reservoir"]["kind"]
        if self.kind == "legendre":
            self.input = self.take("reservoir.input", "F64", None)
            order = len(self.input)
            columns = self.take("reservoir.recurrent", "F64", order, order)
            self.recurrent = [list(columns[row::order]) for row in range(order)]
            self.neurons = whole(order * len(self.names), MOST_NEURONS + 1, "number of neurons")
        else:
            self.read_squashing(form["reservoir"], len(self.names))

    def take(self, name, dtype, *shape):
        """Returns the values of a tensor, which must have this type and shape; None stands for any length."""
        require(name in self.tensors, f"the tensor {name} is missing")
        own, sides, values = self.tensors[name]
        fits = len(sides) == len(shape) and all(b in (None, a) for a, b in zip(sides, shape))
        require(own == dtype and fits, f"{name} has another type or shape")
        return values

    def read_squashing(self, form, channels):
        """Reads the recurrent weights as rows of (column, weight), the input weights by channel, bias and leak."""
        m, self.leak = whole(form["neurons"], MOST_NEURONS + 1, "number of neurons"), float(form["leak"])
        require(m > 0 and LEAST_LEAK <= self.leak <= 1, "no neurons, or a leak out of range (LEAST_LEAK)")
        if self.kind == "matrix":
            require(form["activation"] == "tanh", "no enclosure is known for this activation")
            values = self.take("reservoir.input", "F64", m, channels)
            self.columns = [values[channel::channels] for channel in range(channels)]
            if form["sparse"]:
                places = self.take("reservoir.places", "U32", None, 2)
                entries = zip(places[::2], places[1::2], self.take("reservoir.recurrent", "F64", len(places) // 2))
            else:
                values = self.take("reservoir.recurrent", "F64", m, m)
                entries = [(at // m, at % m, weight) for at, weight in enumerate(values) if weight != 0]
        else:
            require(self.kind == "cycle", "the reservoir is unknown")
            cycle, jump, length = float(form["cycle"]), float(form["jump"]), whole(form["jump_length"], m // 2 + 1, "jump")
            require(abs(cycle) <= LARGEST and abs(jump) <= LARGEST, "the cycle or the jumps are too large (LARGEST)")
            values = self.take("reservoir.input", "F64", channels, m)
            self.columns = [values[channel * m:(channel + 1) * m] for channel in range(channels)]
            entries = [((j + 1) % m, j, cycle) for j in range(m)]
            jumps = [(i, (i + length) % m) for i in range(0, m - length + 1, length)]
            for a, b in jumps[:1] if m == 2 * length else jumps:
                entries += [(a, b, jump), (b, a, jump)]
        self.neurons, self.rows = m, [[] for _ in range(m)]
        for row, column, weight in entries:
            self.rows[row].append((column, weight))
        self.bias = self.take("reservoir.bias", "F64", None) or array("d", bytes(8 * m))

    def read_projection(self):
        """Reads the centers of both sides, the linear maps by columns, and the kernels: gamma, members of both sides,
        support."""
        self.centers, self.linear, self.kernels, m = [], [], [], self.neurons
        for side in ("input", "stack"):
            values = self.take("centres." + side, "F64", None, m)
            self.centers.append([values[at:at + m] for at in range(0, len(values), m)])
            values = self.take("linear." + side, "F64", m, None) if "linear." + side in self.tensors else ()
            count = len(values) // m
            self.linear.append([values[column::count] for column in range(count)])
        while f"kernel{len(self.kernels)}.gamma" in self.tensors:
            name = f"kernel{len(self.kernels)}."
            gamma, = self.take(name + "gamma", "F64", 1)
            require(gamma > 0, "a gamma is not positive")
            members = [self.take(name + side, "U32", None) for side in ("input", "stack")]
            places = self.take(name + "support", "U32", None, 2)
            self.kernels.append((arb(gamma), members, list(zip(places[::2], places[1::2]))))

    def read_readouts(self, actions, output, shift):
        """Reads the readouts that are consulted, as (name, labels, head), in the order of their certificate numbers."""
        def pushed(number):
            return None if number is None else self.terminals + number
        if "separate" in actions:
            asked = [("pop", actions["separate"]["pop"]), ("push", list(map(pushed, actions["separate"]["push"])))]
        else:
            asked = [("actions", [(pop, pushed(number)) for pop, number in actions["joint"]["actions"]])]
        require(output is not None, "the output is a regression")
        asked += [("output", [tuple(map(float, label)) for label in output]), ("shift", shift)]
        self.heads = [(name, labels, self.read_head(name, len(labels))) for name, labels in asked]

    def read_head(self, name, classes):
        """Reads a readout and returns one of the following:

        - None, if there is only one class;
        - "list", the clauses (conditions as pairs of column and intercept; class), and the class if no clause holds;
        - "votes", the pairs (terms as triples of place in the support, weight, and whether the weight is above 0;
          intercept) with the maximum number of terms of a pair, and the kernel.
        """
        if classes == 1:
            return None
        if name + ".clauses" in self.tensors:
            rows = self.take(name + ".clauses", "U32", None, 2)
            otherwise, = self.take(name + ".otherwise", "U32", 1)
            columns = self.take(name + ".conditions", "U32", sum(rows[::2]))
            parts = zip(columns, map(arb, self.take(name + ".intercepts", "F64", len(columns))))
            clauses = [([next(parts) for _ in range(count)], own) for count, own in zip(rows[::2], rows[1::2])]
            return "list", clauses, otherwise
        kernel, = self.take(name + ".kernel", "U32", 1)
        counts = self.take(name + ".counts", "U32", classes * (classes - 1) // 2)
        intercepts = self.take(name + ".intercepts", "F64", len(counts))
        places = self.take(name + ".support", "U32", sum(counts))
        weights = self.take(name + ".weights", "F64", len(places))
        terms = ((place, arb(weight), weight > 0) for place, weight in zip(places, weights))
        order = [(a, b) for a in range(classes) for b in range(a + 1, classes)]
        pairs = {pair: ([next(terms) for _ in range(count)], arb(intercept))
                 for pair, count, intercept in zip(order, counts, intercepts)}
        return "votes", (pairs, max(counts)), kernel


def digest(key, table, text, body):
    """Returns the digest of the file without its manifest, which is the last field of the header."""
    bare = {"__metadata__": {key: text.partition(',"manifest":')[0] + ',"manifest":{}}'}} | table
    head = json.dumps(bare, separators=(",", ":"), ensure_ascii=False).encode()
    head += b" " * (-len(head) % 8)
    return hashlib.sha256(len(head).to_bytes(8, "little") + head + body).hexdigest()


def tensor(name, body, dtype, shape, data_offsets):
    start, stop = data_offsets
    values = array({"F64": "d", "U32": "I"}[dtype], body[start:stop])
    sound = 0 <= start and len(values) == math.prod(shape) and all(map(math.isfinite, values))
    require(sound, f"{name} is damaged, or has a value that is not finite")
    if not name.startswith("lessons."):
        require(dtype == "U32" or max(map(abs, values), default=0) <= LARGEST, f"a value of {name} is too large (LARGEST)")
        require(dtype == "F64" or shape[0] <= MOST_TERMS, f"{name} is too long (MOST_TERMS)")
    return dtype, shape, values

"""Lower bounds on the margins of decisions, for all states in a set of inputs and a set of stacks.

Sets of states are Arb's balls at 128 bits, widened in each step by the maximum rounding error of floating point. For
sums of weights times exp(-gamma |z - y|^2) there are two bounds (docs/certificates.md): each kernel value at its worst,
and Taylor's formula. Both are lowered by the maximum rounding error of the program. The constants have the names of
their lemmas in docs/proof.
"""
import math
from functools import cache
from operator import mul, sub

from flint import arb, arb_mat, ctx

from certificate import END
from model import require

ctx.prec = 128
ZERO, SURE, EPSILON = arb(0), arb("inf"), arb(2)**-52
STEP_SLACK = 8            # a pre-activation is off by this times (weights + 8) eps (sum |w| + max |u| + |b|)
FINISH = 64 * EPSILON     # tanh (TANH_ERROR), leak and mixture
EVERYTHING = 1.001        # no value in a state of a tanh reservoir is larger
LINEAR_STEP = 8           # a step of a Legendre network is off by this times (order + 8) eps (|A| |x| + |b|)
DISTANCE_LOSS = 8         # a squared distance is off by this times (m + 8) eps (|x| + |y|)^2
DISTANCE_SHARE = 4        # the resulting relative error of a kernel value is this times gamma times the loss
TERM_LOSS = 8             # products, sums in any order, exp (EXP_ERROR): this times eps for each term
EXTRA_TERMS = 128         # for the rounded argument of exp
MOST_LOST = 1e-2          # losses may be added only as long as their sum is smaller than this
UNDERFLOW = arb(2)**-420  # exp below -708, and products that underflow, with all weights
LINEAR_LOSS = 8           # a linear value is off by this times (m + 8) eps sum |w| |x|
CLAUSE_LOSS = 8           # for adding both sides and the intercept
ROUNDS, LONGEST_ECHO = 60, 4096


def upward(x):
    """Returns a float that is at least as large as every number in a ball."""
    value = float(x.upper())
    require(math.isfinite(value), "a bound is not finite")
    return math.nextafter(value * (1 + 2.0**-50), math.inf)


def around(radius):
    return arb(0, upward(radius))


def norm(values):
    """Returns an upper bound on the length of a vector of balls."""
    return sum((x.abs_upper()**2 for x in values), ZERO).sqrt()


class Squashing:
    """A network with the hyperbolic tangent. A set of states is a list of balls, that is, a box."""
    def __init__(self, model):
        self.rows = [[(column, arb(weight)) for column, weight in row] for row in model.rows]
        self.columns = [list(map(arb, column)) for column in model.columns]
        self.bias, self.leak, self.start = list(map(arb, model.bias)), arb(model.leak), cache(self.start)
        for at, row in enumerate(self.rows):
            size = sum((abs(weight) for _, weight in row), abs(self.bias[at])) + max(abs(column[at]) for column in model.columns)
            self.bias[at] += around(STEP_SLACK * (len(row) + 8) * EPSILON * size)

    def step(self, state, channel):
        after, finish = [], around(FINISH)
        for at, row in enumerate(self.rows):
            total = sum((weight * state[column] for column, weight in row), self.bias[at])
            if channel is not None:
                total += self.columns[channel][at]
            # The hyperbolic tangent is increasing, so its values at both ends bound those in between.
            value = total.lower().tanh().union(total.upper().tanh())
            if self.leak != 1:
                value = (1 - self.leak) * state[at] + self.leak * value
            after.append(value + finish)
        return after

    def start(self, channels):
        """Returns a set that contains all states reached by sequences of these channels. The set of every round
        contains them: such a state is 0, or follows by one step from a state in the set of the previous round."""
        state = [around(arb(EVERYTHING))] * len(self.rows)
        for _ in range(ROUNDS):
            smaller = [ZERO] * len(self.rows)
            for channel in range(channels):
                smaller = [a.union(b) for a, b in zip(smaller, self.step(state, channel))]
            gain, state = max(float(a.rad() - b.rad()) for a, b in zip(state, smaller)), smaller
            if gain < 1e-9:
                break
        return state

    def after(self, symbols, channels):
        """Returns the set of states after these symbols (None: silence), starting from 0, or from any state that the
        `channels` can lead to. The set is a list of balls and a bound on the Euclidean distance of a state from their
        midpoints, in case it is smaller than that of the box."""
        state = self.start(channels) if channels else [ZERO] * len(self.rows)
        for symbol in symbols:
            state = self.step(state, symbol)
        return state, SURE


class Legendre:
    """A linear network x' = A x + b for each channel. A state is the sum of the echoes A^k b of all symbols."""
    def __init__(self, model):
        self.order, self.channels = len(model.input), len(model.names)
        matrix, power, sizes = arb_mat(model.recurrent), arb_mat(self.order, self.order, 1), []
        while len(sizes) < 2 or not sizes[-1] < 0.25:
            require(len(sizes) <= LONGEST_ECHO, "the network does not forget")
            sizes.append(norm(power.entries()))
            power *= matrix
        period = len(sizes) - 1
        rest = 1 / (1 - sizes[-1])  # a sum over all powers is at most that over the first period times this
        self.count = 3 * period + 32
        echoes = [arb_mat(self.order, 1, list(model.input))]
        while len(echoes) < self.count + period:
            echoes.append(matrix * echoes[-1])
        self.echoes = [echo.entries() for echo in echoes]
        lengths = list(map(norm, self.echoes))
        # Bounds on the echoes of all symbols of an age or older: in every neuron of a channel, and as a length.
        length = sum(lengths[self.count:], ZERO) * rest
        radii = [length] * self.order
        self.tails = {self.count: (radii, length)}
        for age in reversed(range(self.count)):
            radii, length = [a + abs(b) for a, b in zip(radii, self.echoes[age])], length + lengths[age]
            self.tails[age] = radii, length
        # The rounding error of a step is propagated by all powers of A; |x| is at most the sum of the echoes plus this
        # error.
        rate = LINEAR_STEP * (self.order + 8) * EPSILON * sum(sizes[:-1], ZERO) * rest
        weights = norm(matrix.entries())
        require(rate * weights < 0.5, "rounding is not damped")
        self.slack = rate * (weights * length + lengths[0]) / (1 - rate * weights)

    def after(self, symbols, channels):
        state = [ZERO] * (self.order * self.channels)
        for age, symbol in enumerate(reversed(symbols)):
            if symbol is not None and age < self.count:
                for at, echo in enumerate(self.echoes[age], symbol * self.order):
                    state[at] += echo
        radii, length = [ZERO] * self.order, ZERO
        if channels or len(symbols) > self.count:
            radii, length = self.tails[min(len(symbols), self.count)]
        lost = [around(radius + self.slack) for radius in radii] * self.channels
        return [a + b for a, b in zip(state, lost)], length + self.slack + norm(x.rad() for x in state)


class Side:
    """The parts of the readouts for one side, input or stack: centers, kernels (gamma, centers), and linear maps by
    columns."""
    def __init__(self, model, number):
        self.centers, self.neurons = model.centers[number], model.neurons
        self.kernels = [(gamma, members[number]) for gamma, members, _ in model.kernels]
        self.linear = [list(map(arb, column)) for column in model.linear[number]]
        self.transposed = arb_mat(list(map(list, self.centers))).transpose() if self.centers else None
        self.squares = [sum((x * x for x in map(arb, row)), ZERO) for row in self.centers]
        self.longest = max((square.sqrt().upper() for square in self.squares), default=ZERO)
        self.matrix = cache(lambda kernel: arb_mat([list(self.centers[at]) for at in self.kernels[kernel][1]]))


class Sight:
    """The readouts' view of a set of states on one side: all states within `radii` of the center in every neuron (all
    of these are floats), and within `ball` of it in Euclidean distance."""
    def __init__(self, side, state, ball):
        self.side, self.center = side, [float(x.mid()) for x in state]
        self.radii = [upward(abs(x - c)) for x, c in zip(state, self.center)]
        rounded = norm(x.mid() - c for x, c in zip(state, self.center))
        self.ball = arb(upward(norm(map(arb, self.radii)).min(ball + rounded)))
        self.exact = arb_mat([self.center])
        square = sum((x * x for x in self.exact.entries()), ZERO)
        self.loss = DISTANCE_LOSS * (side.neurons + 8) * EPSILON * (square.sqrt() + self.ball + side.longest)**2
        products = (self.exact * side.transposed).entries() if side.centers else []
        self.distances = [square + own - 2 * product for own, product in zip(side.squares, products)]
        self.lean, self.factor, self.range = cache(self.lean), cache(self.factor), cache(self.range)

    def lean(self, center):
        """Returns a bound on |e (c - y)|, where e is the difference between a state and the center c."""
        # No term is negative. In floats, each term is off by two roundings, and the sum by one for each term.
        apart = map(abs, map(sub, self.center, self.side.centers[center]))
        boxed = arb(sum(map(mul, self.radii, apart)) * (1 + (self.side.neurons + 8) * 2.0**-51)) + UNDERFLOW
        return boxed.min(arb(max(0.0, upward(self.distances[center]))).sqrt() * self.ball)

    def factor(self, kernel, place):
        """Returns one side's factor of a kernel value at the center, its minimum and maximum, and the lean."""
        gamma, members = self.side.kernels[kernel]
        distance, lean = self.distances[members[place]], self.lean(members[place])
        nearest = (distance - 2 * lean).lower()
        return ((-gamma * distance).exp(), (-gamma * (distance + 2 * lean + self.ball**2)).exp(),
                (-gamma * nearest).exp() if nearest > 0 else arb(1), lean)

    def range(self, column):
        """Returns a ball that contains the linear value that the program computes."""
        weights, sizes = self.side.linear[column], [abs(weight) for weight in self.side.linear[column]]
        spread = sum(map(mul, sizes, self.radii), ZERO).min(norm(weights) * self.ball)
        most = sum((size * (arb(abs(c)) + r) for size, c, r in zip(sizes, self.center, self.radii)), ZERO)
        spread += LINEAR_LOSS * (len(weights) + 8) * EPSILON * most + UNDERFLOW
        return sum(map(mul, weights, self.exact.entries()), ZERO) + around(spread)


class Pairing:
    """The values of one kernel on a set of inputs and a set of stacks."""
    def __init__(self, kernels, number, input, stack):
        (self.gamma, _, self.support), self.number, self.sights = kernels[number], number, (input, stack)
        self.square = input.ball**2 + stack.ball**2
        self.values = cache(self.values)

    def values(self, at):
        """Returns a kernel value at the center, its minimum and maximum, and bounds on how far it can lie below (sag)
        and above (bulge) its linear approximation."""
        a, b = (sight.factor(self.number, place) for sight, place in zip(self.sights, self.support[at]))
        most, steep = a[2] * b[2], self.gamma * (a[3] + b[3] + self.square)
        return a[0] * b[0], a[1] * b[1], most, most * self.gamma * self.square, 2 * most * steep * steep

    def bound(self, terms, intercept, longest, sign):
        """Returns a lower bound on `sign` times the value that the program computes for a pair of classes."""
        known = [(weight, positive == (sign > 0), self.values(at)) for at, weight, positive in terms]
        total, size = sign * intercept, abs(intercept)
        for weight, helps, value in known:
            total += sign * weight * value[1 if helps else 2]
            size += abs(weight) * value[2]
        rate = DISTANCE_SHARE * self.gamma * (self.sights[0].loss + self.sights[1].loss)
        rate += TERM_LOSS * (longest + self.sights[0].side.neurons + EXTRA_TERMS) * EPSILON
        require(rate < MOST_LOST, "rounding may cost too much (MOST_LOST)")
        lost = rate * size + UNDERFLOW
        least, taylor = (total - lost).lower(), sign * intercept - lost
        if least > 0:
            return least
        for weight, helps, (middle, _, _, sag, bulge) in known:
            taylor += sign * weight * middle - abs(weight) * (sag if helps else bulge)
        return max(least, (taylor - self.change(terms, 0) - self.change(terms, 1)).lower()) if taylor > 0 else least

    def change(self, terms, number):
        """Returns the maximum change of a pair's value by its gradient at the center, on one side."""
        sight = self.sights[number]
        shares = [ZERO] * len(sight.side.kernels[self.number][1])
        for at, weight, _ in terms:
            shares[self.support[at][number]] += weight * self.values(at)[0]
        slope = (sum(shares, ZERO) * sight.exact - arb_mat([shares]) * sight.side.matrix(self.number)).entries()
        return 2 * self.gamma * sum(map(mul, map(abs, slope), sight.radii), ZERO).min(norm(slope) * sight.ball)


def voted(pairs, longest, classes, own, pairing):
    """Returns the margin of a class in a vote. It is positive if the class wins against every other class, or if every
    pair is certain and the class has the most votes."""
    bound = cache(lambda pair, sign: pairing.bound(*pairs[pair], longest, sign))
    least = min(bound((own, other), 1) if own < other else bound((other, own), -1) for other in range(classes) if other != own)
    if least > 0:
        return least
    votes, least = [0] * classes, SURE
    for pair in pairs:
        second = not bound(pair, 1) > 0
        least = min(least, bound(pair, -1 if second else 1))
        votes[pair[second]] += 1
    return least if votes.index(max(votes)) == own else -SURE


def listed(clauses, otherwise, own, input, stack):
    """Returns the margin of a class in a list. Clauses of other classes must fail, up to a clause of this class that
    holds."""
    least = SURE
    for conditions, label in clauses:
        values = []
        for a, b, c in ((input.range(column), stack.range(column), intercept) for column, intercept in conditions):
            values.append(a + b + c + around(CLAUSE_LOSS * EPSILON * (abs(a) + abs(b) + abs(c))))
        holds = min((value.lower() for value in values), default=SURE)
        if label != own:
            least = min(least, max(((-value).lower() for value in values), default=-SURE))
        elif holds > 0:
            return min(least, holds)
    return least if otherwise == own else -SURE


class Bounds:
    def __init__(self, model):
        self.model, self.sides = model, [Side(model, number) for number in (0, 1)]
        self.encloser = Legendre(model) if model.kind == "legendre" else Squashing(model)
        self.input = cache(self.input)

    def input(self, look, before, whole):
        if self.model.view == "symbol":  # the token alone; the end is the zero state, not a step of silence
            return self.see(0, [look] if look != END else [], 0)
        return self.see(0, [*reversed(before), look if look != END else None], 0 if whole else self.model.terminals)

    def see(self, number, symbols, channels):
        nothing = [ZERO] * self.model.neurons, ZERO
        return Sight(self.sides[number], *(self.encloser.after(symbols, channels) if symbols or channels else nothing))

    def least(self, stack, whole, decisions):
        """Returns the smallest margin of the decisions on one stack suffix. All margins must be above 0."""
        least, sight = SURE, self.see(1, stack[::-1], 0 if whole else len(self.model.names)) if decisions else None
        pairing = cache(lambda input, kernel: Pairing(self.model.kernels, kernel, input, sight))
        for readout, own, look in decisions:
            name, labels, head = self.model.heads[readout]
            if head is None:
                continue
            input, (kind, parts, last) = self.input(*look), head
            if kind == "list":
                margin = listed(parts, last, own, input, sight)
            else:
                margin = voted(*parts, len(labels), own, pairing(input, last))
            require(margin > 0, f"{name} is not certain on the stack {stack}, before {look}: {float(margin):.3g}")
            least = min(least, margin)
        return least

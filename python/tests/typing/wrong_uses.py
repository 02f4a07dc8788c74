"""Incorrect uses of the package. Type checkers must report every line that ends with ``# wrong``, and no other."""

import echostack as es

brackets = es.Language.task("dyck1")
machine = es.ReservoirStackMachine(es.CycleReservoir(64), language=brackets, mode="tolerant")

es.ReservoirStackMachine("cycle")  # wrong
es.ReservoirStackMachine(mode="lenient")  # wrong
es.ReservoirStackMachine(lookahead="sideways")  # wrong
es.ReservoirStackMachine(actions="both")  # wrong
es.ReservoirStackMachine(language="dyck1")  # wrong
es.ReservoirStackMachine(C="large")  # wrong
es.EchoStateNetwork("random")  # wrong
es.EchoStateNetwork(washout="all")  # wrong
es.RandomReservoir("many")  # wrong
es.MatrixReservoir([[0.5]], [[1.0]], activation="relu")  # wrong
brackets.sample(3, kind="invalid")  # wrong
es.from_grammar("grammar.y", encoding="states")  # wrong
machine.fit_language("dyck1")  # wrong
machine.compile().source("java")  # wrong
machine.compile().predict(["()"])  # wrong
es.load("model").no_such_method()  # wrong
network = es.EchoStateNetwork(es.RandomReservoir(100))
network.forecast("ten")  # wrong
count: str = brackets.sample(3)  # wrong
verdict: bool = machine.check("()")  # wrong

words, traces = brackets.examples(10)
machine.fit(words, traces).predict(words)
machine.fit(words, [int(trace.accepted) for trace in traces])
es.load("model").check("()")

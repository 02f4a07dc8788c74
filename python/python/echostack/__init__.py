"""From an old parser and a folder of files to a grammar you can read, and a recognizer that is proved.

A reservoir stack machine learns a language, is proved correct on every word, can be read back as an automaton, and
can be compiled to a table.

>>> import echostack as es
>>> brackets = es.Language.task("dyck3")
>>> machine = es.ReservoirStackMachine(random_state=0).fit_language(brackets, prove=True)
>>> machine.certificate_ is not None
True
>>> table = machine.compile()
>>> bool(table.check("([]{()})")), str(table.check("([)]"))
(True, 'reject at token 2, expected (, [, ] or {')
"""

from . import datasets, errors
from ._native import __version__
from .errors import EchostackError
from .languages import Language, from_grammar, infer, task_names
from .loading import load
from .machines import Certificate, Difference, Extraction, ReservoirStackMachine
from .networks import EchoStateNetwork, NetworkState, memory_capacity
from .recognizers import END, CompiledTable, Parse, Session, Token, Verdict
from .reservoirs import CycleReservoir, LegendreReservoir, MatrixReservoir, RandomReservoir
from .traces import Step, Trace, read_traces, write_traces

__all__ = [
    "END",
    "Certificate",
    "CompiledTable",
    "CycleReservoir",
    "Difference",
    "EchoStateNetwork",
    "EchostackError",
    "Extraction",
    "Language",
    "LegendreReservoir",
    "MatrixReservoir",
    "NetworkState",
    "Parse",
    "RandomReservoir",
    "ReservoirStackMachine",
    "Session",
    "Step",
    "Token",
    "Trace",
    "Verdict",
    "__version__",
    "datasets",
    "errors",
    "from_grammar",
    "infer",
    "load",
    "memory_capacity",
    "read_traces",
    "task_names",
    "write_traces",
]

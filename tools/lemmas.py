"""Checks that the error analysis in docs/proof and the source agree.

Every constant must have a lemma of the same name with the same value, every lemma must be cited where it is used and
have a test, and the bounds must not contain unnamed numbers.
"""

import re
import struct
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/proof/README.md"
SOURCE = ROOT / "crates/echostack/src"
ANALYSED = [SOURCE / name for name in ("certify/bound.rs", "certify/enclose.rs", "certify/scale.rs", "simd.rs")]
# The files in which an unnamed number would be part of a bound. The numbers in simd.rs are coefficients, which the
# tests of exp and tanh check.
NO_LITERALS = ANALYSED[:3]
PLAIN = {"0.", "1.", "2.", "0.5"}
NO_LEMMA = "No lemma"

faults = []


def value(text):
    """Evaluates an expression of the page or of the source."""
    text = re.sub(r"f64::from_bits\((.*)\)$", r"bits(\1)", text.strip())
    text = re.sub(r"(\d+)_[ui]\d+|(\d)_(?=\d)", lambda match: match.group(1) or match.group(2), text)
    text = text.replace(" as f64", "").replace("f64::EPSILON", "eps").replace("EPSILON", "eps").replace("^", "**")
    text = re.sub(r"(\d)\s+eps", r"\1 * eps", text)
    bits = lambda number: struct.unpack("<d", struct.pack("<Q", number))[0]
    return float(eval(text, {"__builtins__": {}}, {"eps": 2.0**-52, "bits": bits}))


def lemmas():
    """Returns the lemmas of the page, each with its constants and its test."""
    found = {}
    for section in re.split(r"^### ", PAGE.read_text(), flags=re.M)[1:]:
        name, text = section.split("\n", 1)
        lead = text.strip().split("\n")[0]
        constants = dict(re.findall(r"`([A-Z_]+) = ([^`]+)`", lead))
        test = re.search(r"[tT]est `(\w+)`", lead)
        if not test:
            faults.append(f"{PAGE.name}: lemma {name} names no test")
        found[name.strip()] = (constants, test and test.group(1))
    return found


def code(path):
    """Returns the lines of a file that are compiled into the library."""
    return path.read_text().split("#[cfg(test)]\nmod tests")[0].split("\n")


def constants(path):
    """Yields the floating-point constants of a file, and the sizes that cite a lemma, each with its comment."""
    comment = []
    for line in code(path):
        text = line.strip()
        match = re.match(r"(?:pub(?:\(\w+\))? )?const ([A-Z_0-9]+): (f64|usize) = (.*);$", text)
        if match:
            name, kind, expression = match.groups()
            said = " ".join(comment)
            if kind == "f64" or "Lemma" in said:
                yield name, expression, said
        elif text.startswith("///"):
            comment.append(text[3:].strip())
        elif not text.startswith("//") and not text.startswith("const _"):
            comment = []


page = lemmas()
sources = "\n".join(path.read_text() for path in SOURCE.rglob("*.rs"))
tests = sources + "\n".join(path.read_text() for path in (ROOT / "crates/echostack/tests").glob("*.rs"))
stated = {constant: (lemma, text) for lemma, (own, _) in page.items() for constant, text in own.items()}

for path in ANALYSED:
    checked = path.name != "simd.rs"
    for name, expression, said in constants(path):
        cited = re.findall(r"Lemma\s+([A-Z_]+)", said)
        if not cited and NO_LEMMA not in said and checked and not expression.endswith("f64::EPSILON"):
            faults.append(f"{path.name}: {name} cites no lemma")
        if not cited:
            continue
        if name not in stated:
            faults.append(f"{path.name}: {name} has no lemma on the page")
        elif value(expression) != value(stated[name][1]):
            faults.append(f"{path.name}: {name} = {expression}, but the page says {stated[name][1]}")

# The second checker must have the same error model.
for path in (ROOT / "tools/recheck").glob("*.py"):
    for name, expression in re.findall(r"^([A-Z_]+) = ([^#\n]+)", path.read_text(), flags=re.M):
        if name in stated and value(expression.replace("arb(2)", "2.")) != value(stated[name][1]):
            faults.append(f"tools/recheck/{path.name}: {name} = {expression.strip()}, but the page says {stated[name][1]}")

for lemma, (_, test) in page.items():
    if not re.search(rf"Lemma\s+(///\s+)?{lemma}\b", sources):
        faults.append(f"lemma {lemma} is cited nowhere")
    if test and f"fn {test}(" not in tests:
        faults.append(f"lemma {lemma}: there is no test {test}")

for path in NO_LITERALS:
    for number, line in enumerate(code(path), 1):
        text = line.split("//")[0]
        if re.match(r"\s*(pub(\(\w+\))? )?const ", text):
            continue
        for literal in re.findall(r"(?<![\w.])\d[\d_]*(?:\.\d*(?:e-?\d+)?|e-?\d+)(?![\w.])", text):
            if literal not in PLAIN:
                faults.append(f"{path.name}:{number}: the number {literal} has no name")

for fault in faults:
    print(fault)
print(f"{len(page)} lemmas, {len(stated)} constants, {len(faults)} faults")
sys.exit(bool(faults))

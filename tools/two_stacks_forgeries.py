"""Forges certificates of a machine with two stacks and checks that tools/recheck refuses every one of them.

Usage: python tools/two_stacks_forgeries.py MODEL TEACHER CERTIFICATE [COUNT]

The given certificate must be a true one. The forgeries: each part of the shape is left out, each letter of the trees of cells is
left out or replaced, each entry of the teacher's table is changed in its move or its state, with the digest recomputed, and
the two labels of each readout with two classes are swapped in the model, with the digest recomputed. With COUNT, only so many of
them are tried, drawn with a fixed seed: each takes as long as a check.
"""
import copy
import hashlib
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "recheck"))
from model import Refused  # noqa: E402
from two_stacks import TwoStackModel, TwoStacks  # noqa: E402


def refused(model, teacher, form):
    try:
        TwoStacks(model, teacher, form).confirm()
    except Refused as reason:
        return str(reason)
    except (KeyError, IndexError, ValueError, TypeError) as error:
        return repr(error)
    return None


def without_parts(form):
    for part in ("first", "second", "tops"):
        for at in range(len(form["shape"][part])):
            forged = copy.deepcopy(form)
            del forged["shape"][part][at]
            yield f"without number {at} of {part}", forged
    for number, tree in enumerate(form["cells"]):
        for at, letter in enumerate(tree):
            for other in {"", ".", "1", "2"} - {letter}:
                forged = copy.deepcopy(form)
                forged["cells"][number] = tree[:at] + other + tree[at + 1:]
                yield f"letter {at} of tree {number} replaced by {other!r}", forged


def other_teachers(text):
    lines = text.split("\n")
    for at, line in enumerate(lines):
        words = line.split("//")[0].split()
        if "->" not in words or "|" in words:
            continue
        move = words.index("->") + 3
        for other in {"L", "R", "S"} - {words[move]}:
            changed = words[:move] + [other] + words[move + 1:]
            yield f"line {at + 1} with the move {other}", "\n".join(lines[:at] + [" ".join(changed)] + lines[at + 1:])


def other_models(data):
    size = int.from_bytes(data[:8], "little")
    table, body = json.loads(data[8:8 + size]), data[8 + size:]
    header = json.loads(table["__metadata__"][TwoStackModel.KEY])
    for number, readouts in enumerate(header["readouts"]):
        for name, labels in readouts.items():
            if len(labels) == 2:
                forged = copy.deepcopy(header)
                forged["readouts"][number][name] = labels[::-1]
                table["__metadata__"] = {TwoStackModel.KEY: json.dumps(forged, separators=(",", ":"), ensure_ascii=False)}
                head = json.dumps(table, separators=(",", ":"), ensure_ascii=False).encode()
                head += b" " * (-len(head) % 8)
                yield f"the labels of {name} before {number} swapped", len(head).to_bytes(8, "little") + head + body


def main():
    model, teacher, certificate = (Path(name).read_bytes() for name in sys.argv[1:4])
    form = json.loads(certificate)
    told = refused(model, teacher, form)
    if told:
        sys.exit(f"the certificate itself is refused: {told}")
    forgeries = [(name, model, teacher, forged) for name, forged in without_parts(form)]
    for name, text in other_teachers(teacher.decode()):
        text = text.encode()
        forgeries.append((name, model, text, {**form, "teacher": hashlib.sha256(text).hexdigest()}))
    for name, other in other_models(model):
        forgeries.append((name, other, teacher, {**form, "machine": TwoStackModel(other).digest}))
    if len(sys.argv) > 4:
        forgeries = random.Random(0).sample(forgeries, min(int(sys.argv[4]), len(forgeries)))
    accepted = [name for name, *files in forgeries if refused(*files) is None]
    print(f"{len(forgeries)} forgeries, {len(accepted)} accepted")
    sys.exit("\n".join(accepted) or None)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Draws the pictures of the pages on concepts: two diagrams, and three pictures of real runs on a^n b^n.

Usage: concepts.py ECHOSTACK [FOLDER]. The pictures have a light background, so that they can be read in every theme.
"""

import html
import json
import math
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

# The colors of Okabe and Ito, which people with any kind of color vision can tell apart; light forms to fill with.
BLUE, ORANGE, GREEN, PURPLE = "#0072b2", "#b45f06", "#00785a", "#9b4a7d"
PALE = {BLUE: "#e1eef6", ORANGE: "#fbe9d7", GREEN: "#dff1eb", PURPLE: "#f5e6ef"}
INK, GREY = "#1f2328", "#57606a"


class Picture:
    def __init__(self, width, height, title):
        self.out = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13" role="img">',
            f"<title>{html.escape(title)}</title>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            f'<path d="M0 0L8 4L0 8z" fill="{GREY}"/></marker></defs>',
            f'<rect width="{width}" height="{height}" rx="6" fill="#ffffff"/>',
        ]
        self.text(16, 26, title, size=15, anchor="start", weight="bold")

    def text(self, x, y, text, size=13, anchor="middle", color=INK, weight="normal", mono=False):
        family = ' font-family="monospace"' if mono else ""
        self.out.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}" fill="{color}" font-weight="{weight}"{family}>{html.escape(text)}</text>')

    def box(self, x, y, width, height, lines, color, size=13):
        self.out.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5" fill="{PALE[color]}" stroke="{color}" stroke-width="1.5"/>')
        top = y + height / 2 - (len(lines) - 1) * 8.5 + 4.5
        for number, line in enumerate(lines):
            self.text(x + width / 2, top + 17 * number, line, size=size if number == 0 else size - 1, weight="bold" if number == 0 and len(lines) > 1 else "normal")

    def arrow(self, *points, color=GREY):
        path = "M" + "L".join(f"{x} {y}" for x, y in points)
        self.out.append(f'<path d="{path}" fill="none" stroke="{color}" stroke-width="1.5" marker-end="url(#tip)"/>')

    def line(self, points, color, width=2, dash=""):
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self.out.append(f'<path d="{path}" fill="none" stroke="{color}" stroke-width="{width}" stroke-dasharray="{dash}"/>')

    def __str__(self):
        return "\n".join(self.out + ["</svg>\n"])


def machine():
    """The parts of a machine, and what flows between them."""
    picture = Picture(760, 330, "A reservoir stack machine")
    picture.box(24, 60, 150, 52, ["input", "or the next token"], BLUE)
    picture.box(24, 200, 150, 52, ["stack", "of symbols"], ORANGE)
    picture.box(238, 60, 160, 52, ["reservoir", "fixed, random"], GREEN)
    picture.box(238, 200, 160, 52, ["reservoir", "the same one"], GREEN)
    picture.box(462, 120, 120, 72, ["four readouts", "trained", "classifiers"], PURPLE)
    for y, name in [(64, "how many to pop"), (112, "what to push"), (160, "shift the token?"), (208, "accept here?")]:
        picture.box(632, y, 116, 34, [name], PURPLE, size=12)
        picture.arrow((582, 156), (630, y + 17))
    picture.arrow((174, 86), (236, 86))
    picture.arrow((174, 226), (236, 226))
    picture.arrow((398, 86), (430, 86), (460, 140))
    picture.arrow((398, 226), (430, 226), (460, 172))
    picture.text(424, 76, "state h", size=12, color=GREY)
    picture.text(424, 246, "state g", size=12, color=GREY)
    picture.arrow((690, 242), (690, 292), (99, 292), (99, 254))
    picture.text(400, 310, "the decisions change the stack, and the next decision is made", size=12, color=GREY)
    return picture


def inferring():
    """The steps of `echostack infer`."""
    picture = Picture(760, 270, "From examples and a program to a grammar")
    steps = [(["examples"], BLUE), (["classes", "of characters"], GREEN), (["openers", "and closers"], GREEN), (["states", "active learning"], GREEN), (["tests", "of the hypothesis"], PURPLE)]
    for number, (lines, color) in enumerate(steps):
        x = 16 + 150 * number
        picture.box(x, 120, 124, 52, lines, color)
        if number:
            picture.arrow((x - 26, 146), (x - 2, 146))
    picture.box(286, 48, 172, 42, ["the program: yes or no"], ORANGE)
    for x in (228, 372, 516, 660):
        picture.out.append(f'<path d="M{x} 118L{x} 104L372 104L372 92" fill="none" stroke="{ORANGE}" stroke-width="1.2" stroke-dasharray="4 3"/>')
    picture.arrow((660, 174), (660, 204), (528, 204), (528, 174))
    picture.text(590, 222, "a text is misjudged", size=12, color=GREY)
    picture.arrow((700, 174), (700, 236), (470, 236))
    picture.text(590, 252, "nothing is found", size=12, color=GREY)
    picture.box(290, 214, 178, 42, ["lexer, grammar, report"], BLUE)
    return picture


def trace(echostack):
    """What a parser does on the word a a b b, step by step, as `teach` writes it."""
    printed = subprocess.run([echostack, "teach", "task:anbn", "--count", "5"], check=True, capture_output=True, text=True).stdout
    lines = [json.loads(line) for line in printed.splitlines()[1:]]
    found = next(line for line in lines if line["word"] == ["a", "a", "b", "b"])
    picture = Picture(760, 330, "A trace of the word a a b b: one step for each token, and one for the end")
    stack = []
    for number, step in enumerate(found["steps"]):
        x = 150 + 120 * number
        token = found["word"][number] if number < len(found["word"]) else "end"
        picture.text(x + 50, 62, token, size=16, mono=True, weight="bold")
        told = "nothing"
        for pop, push in step.get("reductions", []):
            stack = stack[: len(stack) - pop] + [push]
            told = f"pop {pop}, push {push}"
        for row, text in enumerate([told, str(int(step["output"][0])), "yes" if step["shift"] else "no"]):
            if token == "end" and row == 2:
                text = "–"
            picture.text(x + 50, 92 + 26 * row, text, color=INK if text not in ("nothing", "0", "–") else GREY)
        if step["shift"]:
            stack = stack + [token]
        for level, symbol in enumerate(stack):
            color = ORANGE if symbol == "S" else BLUE
            picture.box(x + 22, 284 - 28 * level, 56, 24, [symbol], color)
        picture.line([(x + 12, 311), (x + 88, 311)], INK, 1.5)
    for y, name in [(62, "next token"), (92, "reductions"), (118, "output"), (144, "shift"), (300, "stack afterwards")]:
        picture.text(16, y, name, anchor="start", color=GREY)
    return picture


def tensors(path):
    """Returns the header and the tensors of a model; any safetensors library could read them, too."""
    data = Path(path).read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    entries = json.loads(data[8 : 8 + size])
    header = json.loads(entries.pop("__metadata__")["echostack"])

    def values(name):
        start, end = entries[name]["data_offsets"]
        return struct.unpack(f"<{(end - start) // 8}d", data[8 + size + start : 8 + size + end])

    return header, values


def memory(model):
    """How the difference between two words that differ in their first token fades."""
    header, values = tensors(model)
    reservoir, weights = header["reservoir"], values("reservoir.input")
    count, jump = reservoir["neurons"], reservoir["jump_length"]

    def step(state, channel):
        drive = [reservoir["cycle"] * state[at - 1] + weights[channel * count + at] for at in range(count)]
        for at in range(0, count, jump):
            to = (at + jump) % count
            drive[to] += reservoir["jump"] * state[at]
            drive[at] += reservoir["jump"] * state[to]
        return [math.tanh(value) for value in drive]

    one, other = (step([0.0] * count, channel) for channel in (0, 1))
    distances = []
    for _ in range(11):
        distances.append(math.dist(one, other))
        one, other = step(one, 0), step(other, 0)
    picture = Picture(760, 330, "A reservoir forgets: two words that differ only in their first token")
    left, bottom, top = 96, 268, 56
    lowest = math.floor(math.log10(min(distances)))
    highest = math.ceil(math.log10(max(distances)))
    up = lambda value: bottom - (bottom - top) * (math.log10(value) - lowest) / (highest - lowest)
    across = lambda number: left + 30 + 58 * number
    for power in range(lowest, highest + 1):
        picture.line([(left, up(10**power)), (740, up(10**power))], "#d8dee4", 1)
        label = f"10{''.join('⁻⁰¹²³⁴⁵⁶⁷⁸⁹'['-0123456789'.index(sign)] for sign in str(power))}"
        picture.text(left - 8, up(10**power) + 4, label, size=12, anchor="end", color=GREY)
    points = [(across(number), up(value)) for number, value in enumerate(distances)]
    picture.line(points, BLUE)
    for number, (x, y) in enumerate(points):
        picture.out.append(f'<circle cx="{x}" cy="{y:.1f}" r="4.5" fill="{BLUE}"/>')
        picture.text(x, bottom + 20, str(number), size=12, color=GREY)
    picture.text(418, 310, "tokens read since the difference", color=GREY)
    picture.out.append(f'<text transform="translate(34 162) rotate(-90)" text-anchor="middle" fill="{GREY}">distance of the two states</text>')
    return picture


def cells(echostack, model, certificate):
    """The cells of a proof with their margins."""
    command = [echostack, "certify", model, "--against", "task:anbn", "--check", certificate, "--cells"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^(\w+) +next (\S+) +stack (.*?) {2,}(\S+) +by (\S+)$", printed, re.M)
    readouts = [("pop", BLUE), ("push", ORANGE), ("output", GREEN), ("shift", PURPLE)]
    most = max(float(cell[4]) for cell in found)
    rows = max(sum(cell[0] == name for cell in found) for name, _ in readouts)
    height = 92 + 21 * rows + 26
    picture = Picture(960, height, f"A whole proof, for aⁿbⁿ: {len(found)} cells, each with a margin above 0")
    for number, (name, color) in enumerate(readouts):
        left = 16 + 238 * number
        picture.text(left, 58, name, anchor="start", weight="bold", color=color, size=14)
        picture.text(left, 76, "stack, next token: decision", anchor="start", size=11, color=GREY)
        for row, (_, token, stack, answer, margin) in enumerate(cell for cell in found if cell[0] == name):
            y = 92 + 21 * row
            picture.text(left, y + 12, f"{stack.replace('...', '…')}, {token}: {answer}", size=11, anchor="start", mono=True)
            width = 62 * float(margin) / most
            picture.out.append(f'<rect x="{left + 126}" y="{y + 2}" width="{max(width, 1.5):.1f}" height="13" fill="{color}"/>')
            picture.text(left + 130 + width, y + 12, f"{float(margin):.2f}", size=10, anchor="start", color=GREY)
        picture.line([(left + 126, 88), (left + 126, 92 + 21 * rows)], GREY, 1)
    picture.text(16, height - 10, "^ is the bottom of the stack, … any symbols, # the end of the word. The bars are margins: how far the right decision is ahead, at least.", size=12, anchor="start", color=GREY)
    return picture


def main():
    echostack = Path(sys.argv[1]).resolve()
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).parent)
    with tempfile.TemporaryDirectory() as made:
        model, certificate = Path(made, "model"), Path(made, "certificate")
        subprocess.run([echostack, "learn", "task:anbn", "--certificate", certificate, "--quiet", "-o", model], check=True)
        pictures = {"machine": machine(), "inferring": inferring(), "trace": trace(echostack), "memory": memory(model), "cells": cells(echostack, model, certificate)}
    for name, picture in pictures.items():
        (folder / f"{name}.svg").write_text(str(picture))


if __name__ == "__main__":
    main()

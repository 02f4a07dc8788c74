#!/usr/bin/env python3
"""Draws the stack of a machine after each token of a JSON text, from a run of the machine.

Usage: stack.py ECHOSTACK > stack.svg
"""

import html
import json
import subprocess
import sys
import tempfile
from pathlib import Path

TEXT = '{"a": [1, 2], "b": null}'
GRAMMAR = Path(__file__).resolve().parents[2] / "testdata/grammars/json"
WIDTH, HEIGHT, LEFT, BASE = 58, 24, 76, 206
TOKEN, PUSHED = ("#e8eef5", "#4f6d8f"), ("#fbe8cf", "#b06a12")


def tree_of(echostack):
    """Teaches and proves a machine, and returns the tree that it builds while it reads the text."""
    with tempfile.TemporaryDirectory() as folder:
        model, text = Path(folder, "model"), Path(folder, "text.json")
        text.write_text(TEXT)
        subprocess.run([echostack, "learn", GRAMMAR, "--prove", "--quiet", "-o", model], check=True)
        printed = subprocess.run([echostack, "parse", model, text, "--format", "json"], check=True, capture_output=True)
    return json.loads(printed.stdout)["tree"]


def stack_at(node, end):
    """Returns what stands on the stack for a node when the text up to `end` is read: what is complete is one symbol."""
    if node["start"]["byte"] >= end:
        return []
    if node["end"]["byte"] <= end:
        return [node]
    return [symbol for child in node["children"] for symbol in stack_at(child, end)]


def tokens(node):
    children = node.get("children")
    return [token for child in children for token in tokens(child)] if children else [node]


def main():
    tree = tree_of(sys.argv[1])
    leaves = tokens(tree)
    width = LEFT + WIDTH * len(leaves) + 12
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} 250" font-family="sans-serif" font-size="11" role="img">',
        "<title>The stack of a proved machine for JSON, after each token of a text</title>",
        f'<rect width="{width}" height="250" fill="#ffffff"/>',
        '<text x="12" y="20" font-size="13">A proved machine reads JSON: its stack after each token</text>',
        f'<text x="12" y="{BASE + 26}" fill="#333333">token read</text>',
        f'<text x="12" y="{BASE - 10}" fill="#333333">stack</text>',
        f'<line x1="{LEFT}" y1="{BASE}" x2="{width - 12}" y2="{BASE}" stroke="#333333"/>',
    ]
    for column, leaf in enumerate(leaves):
        x = LEFT + WIDTH * column
        for level, symbol in enumerate(stack_at(tree, leaf["end"]["byte"])):
            fill, line = PUSHED if symbol.get("children") else TOKEN
            y = BASE - HEIGHT * (level + 1)
            label = html.escape(symbol["kind"])
            out.append(f'<rect x="{x + 3}" y="{y + 2}" width="{WIDTH - 6}" height="{HEIGHT - 4}" rx="3" fill="{fill}" stroke="{line}"/>')
            size = 9 if len(symbol["kind"]) > 6 else 11
            out.append(f'<text x="{x + WIDTH / 2}" y="{y + 16}" text-anchor="middle" font-size="{size}" fill="#222222">{label}</text>')
        text = html.escape(leaf["text"])
        out.append(f'<text x="{x + WIDTH / 2}" y="{BASE + 26}" text-anchor="middle" font-family="monospace" font-size="13">{text}</text>')
    for x, (fill, line), label in [(width - 330, TOKEN, "a token"), (width - 240, PUSHED, "pushed by a trained classifier")]:
        out.append(f'<rect x="{x}" y="10" width="14" height="12" rx="2" fill="{fill}" stroke="{line}"/><text x="{x + 20}" y="20">{label}</text>')
    out.append("</svg>")
    print("\n".join(out))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""An oracle that stays open: reads one text per line, as a JSON string, and writes true or false.

    python3 oracle.py json          is the text JSON, for Python's json.loads?
    python3 oracle.py palindromes   is it a palindrome of a and b, of even length?
"""

import json
import sys


def refuse(name):
    raise ValueError(f"{name} is not JSON")


def is_json(text):
    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


def is_palindrome(text):
    return len(text) % 2 == 0 and text == text[::-1] and set(text) <= {"a", "b"}


if __name__ == "__main__":
    valid = {"json": is_json, "palindromes": is_palindrome}[sys.argv[1]]
    for line in sys.stdin:
        print("true" if valid(json.loads(line)) else "false", flush=True)

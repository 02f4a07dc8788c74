#!/usr/bin/env python3
"""An oracle that stays open: reads one text per line, as a JSON string, and writes true or false.

    python3 oracle.py json          is the text JSON, for Python's json.loads?
    python3 oracle.py palindromes   is it a palindrome of a and b, of even length?
    python3 oracle.py dangling      is it a statement of `if c then`, `else` and `x`?
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


def is_statement(text):
    words = text.split()
    open_ifs = 0
    while words:
        if words[:3] == ["if", "c", "then"]:
            words = words[3:]
            open_ifs += 1
        elif words[0] == "x" and len(words) == 1:
            return True
        elif words[:2] == ["x", "else"] and open_ifs > 0:
            words = words[2:]
            open_ifs -= 1
        else:
            return False
    return False


if __name__ == "__main__":
    valid = {"json": is_json, "palindromes": is_palindrome, "dangling": is_statement}[sys.argv[1]]
    for line in sys.stdin:
        print("true" if valid(json.loads(line)) else "false", flush=True)

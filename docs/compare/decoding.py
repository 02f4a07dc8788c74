"""Two ways to read JSON from bytes: decoded as UTF-8 first, or left to `json`, which guesses the encoding."""
import json
import sys

parse = {"utf8": lambda read: json.loads(read.decode()), "guessed": lambda read: json.loads(read)}[sys.argv[1]]
for line in sys.stdin:
    try:
        parse(json.loads(line).encode("latin-1"))
        print("true", flush=True)
    except (ValueError, RecursionError):
        print("false", flush=True)

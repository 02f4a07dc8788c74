#!/usr/bin/env python3
"""Three versions of a parser of sums, as programs that stay open: `sums.py 1`, `sums.py 2` and `sums.py 3`.

The second version also reads negative numbers. The third one was only meant to be faster. It also reads a sum that ends with a
plus sign.
"""

import json
import re
import sys

NUMBER, END = {"1": ("[0-9]+", ""), "2": ("-?[0-9]+", ""), "3": ("-?[0-9]+", r"\+?")}[sys.argv[1]]
SUM = re.compile(rf"{NUMBER}( *\+ *{NUMBER})*{END}")

if __name__ == "__main__":
    for line in sys.stdin:
        print("true" if SUM.fullmatch(json.loads(line)) else "false", flush=True)

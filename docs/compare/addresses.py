"""Parsers of IPv4 addresses, as programs that stay open: `ipaddress` of Python, `inet_aton` of the C library, and `four`, which is
`inet_aton` for texts with three dots."""

import ipaddress
import json
import socket
import sys


def four(text):
    if text.count(".") != 3:
        raise ValueError(text)
    socket.inet_aton(text)


parse = {"ipaddress": ipaddress.IPv4Address, "inet_aton": socket.inet_aton, "four": four}[sys.argv[1]]
for line in sys.stdin:
    try:
        parse(json.loads(line))
        print("true", flush=True)
    except (ValueError, OSError):
        print("false", flush=True)

#!/usr/bin/env python3
"""Runs `echostack infer` with programs of Debian that are started for each text, each with a language of full size.

    benchmarks/infer/debian.py ECHOSTACK luac|protoc|xmllint [FOLDER] [--option ...]

The programs are in the packages lua5.4, protobuf-compiler and libxml2-utils. Further options are for `infer`. The folder
keeps the examples and what was inferred. A row has how the run ended, the queries in all and until the hypothesis last
changed, seconds, CPU seconds of `infer` and all programs that it started, and how many of the examples that were held out
(every fifth) the grammar accepts.
"""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

LUA = """
local x = 1
---
print("hello", 42)
---
local function add(a, b) return a + b end
---
for i = 1, 10 do print(i) end
---
for key, value in pairs(t) do t[key] = value * 2 end
---
while n > 0 do n = n - 1 end
---
repeat local line = read() until line == nil or #line == 0
---
if a then b() elseif c then d() else e() end
---
local t = { 1, 2, x = 3, ["y"] = 4, nested = { true, false, nil } }
---
obj:method(1, "two", {3})
---
a.b.c[1].d = function(...) local n = select("#", ...) return n, ... end
---
goto done
::done::
---
local s = 'single' .. "double\\n" .. [[long
string]]
---
-- a comment
return not x and y or z
---
--[[ a long
comment ]] local a <const>, b = 0x1F, 3.5e-2
---
x, y = y, x
---
do local z = (a + b) * c // d % e ^ f end
---
f "text"
g { 1 }
---
local v = a < b and a <= c and a > d and a >= e and a == f and a ~= g
---
return a & b | c ~ d << 1 >> 2
---
function M.new(class) return setmetatable({}, class) end
---
function M:run() if self.done then return end break_it() end
---
while true do break end
---
return -x, ~y, #z;
---
local a = b[c[1]][2](3)(4)
"""
PROTO = """
syntax = "proto3";
---
syntax = "proto3"; package a.b;
---
syntax = "proto3"; message M { int32 id = 1; }
---
syntax = "proto3"; message M { repeated string names = 2; M child = 3; }
---
syntax = "proto3"; enum E { ZERO = 0; ONE = 1; }
---
syntax = "proto3"; message M { map<string, int64> counts = 1; }
---
syntax = "proto3"; message M { oneof kind { bool a = 1; bytes b = 2; } }
---
syntax = "proto3"; message M { reserved 2, 4 to 6; reserved "x", "y"; }
---
syntax = "proto3"; option java_package = "org.x"; message M {}
---
syntax = "proto3"; message Q {} message R {} service S { rpc Get(Q) returns (R); }
---
syntax = "proto3"; message Q {} service S { rpc Watch(stream Q) returns (stream Q) {} }
---
syntax = "proto3"; // comment
message M { double x = 1 [deprecated = true]; }
---
syntax = "proto3"; message A { message B { float f = 1; } B b = 1; }
---
syntax = "proto2"; message M { required int32 a = 1; optional string s = 2 [default = "x"]; }
---
syntax = "proto2"; message M { extensions 100 to 199; }
---
syntax = "proto3"; message M { optional uint32 n = 1; fixed64 f = 2; sint32 s = 0x3; }
---
syntax = "proto3"; enum E { option allow_alias = true; A = 0; B = 0; }
---
syntax = "proto3"; /* block */ message M { enum K { U = 0; N = -1; } K k = 1; }
---
syntax = "proto2"; message M { optional group G = 1 { optional int32 a = 1; } }
---
syntax = "proto2"; message M { optional float f = 1 [default = -1.5e3]; optional bool b = 2 [default = true]; }
"""
XML = """
<a/>
---
<a></a>
---
<a>text</a>
---
<a><b/><b/></a>
---
<a x="1"/>
---
<a x='1' y="two"><b z=""/>text</a>
---
<?xml version="1.0"?>
<a/>
---
<?xml version="1.0" encoding="UTF-8"?><a><b>c</b></a>
---
<a><!-- comment --></a>
---
<a>x &amp; y &lt; z &#65; &#x42;</a>
---
<a><![CDATA[ < & > ]]></a>
---
<a><?pi some data?></a>
---
<!DOCTYPE a><a/>
---
<!DOCTYPE a [<!ELEMENT a (#PCDATA)>]><a>1</a>
---
<ns:a xmlns:ns="urn:x"><ns:b/></ns:a>
---
<a>
  <b c="d">
    <e>f</e>
  </b>
</a>
---
<!-- before --><a/><!-- after -->
---
<a b-c="1" d.e="2" _f="3"/>
---
<a ><b
/></a >
---
<a>1<b>2</b>3<b>4</b></a>
"""
PROGRAMS = {
    "luac": ("luac5.4 -p {}", LUA),
    "protoc": ("protoc --proto_path=/ --descriptor_set_out=/dev/null {}", PROTO),
    "xmllint": ("xmllint --noout {}", XML),
}


def main():
    echostack, name, *rest = sys.argv[1:]
    oracle, texts = PROGRAMS[name]
    texts = [text.strip("\n") for text in texts.split("\n---\n")]
    folder = Path(rest.pop(0) if rest and not rest[0].startswith("-") else tempfile.mkdtemp())
    examples, inferred = folder / "examples", folder / "inferred"
    examples.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(texts):
        (examples / f"{number:02}.txt").write_text(text)
    command = [echostack, "infer", "--examples", examples, "--oracle", oracle, "--hold-out", "0.2", "--json", "--quiet"]
    done = subprocess.run([*command, "-o", inferred, *rest], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not done.stdout.strip():
        sys.exit(done.stderr)
    found = json.loads(done.stdout)
    print(f"{name}, {len(texts)} examples: {'settled' if found['settled'] else found['reason']}; {found['queries']} queries, "
          f"{found['until_last_change']} until the last change; {found['seconds']:.0f} s, "
          f"{after.ru_utime + after.ru_stime:.0f} s of CPU; recall of what was held out: {found['recall']}; "
          f"{found['rejected'] if 'rejected' in found else ''}{done.stderr.strip()}")


if __name__ == "__main__":
    main()

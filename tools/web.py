#!/usr/bin/env python3
"""Builds the page "Try it in the browser" (docs/try.md).

    tools/web.py FOLDER

FOLDER gets the files of docs/try, the WebAssembly module with its JavaScript, and the list of grammars. Served by any
static file server, it is a page by itself; as the folder `try` of the built book, it completes the book's page.

Needs Rust's target wasm32-unknown-unknown. The program wasm-bindgen is installed in target/web if it isn't there.
"""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "target" / "web"
TOOL = TARGET / "tools" / "bin" / "wasm-bindgen"
# A grammar of this size takes too long in a browser.
LEFT_OUT = {"lua"}
# Within these limits, a hostile grammar ends with a message; 8 MiB is the stack of a native program.
LIMITS = ["-Clink-arg=--max-memory=1073741824", "-Clink-arg=-zstack-size=8388608"]


def cargo(*arguments: object) -> None:
    """Runs cargo without the settings of CI, which are for native builds."""
    environment = {key: value for key, value in os.environ.items() if key not in ("RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER")}
    subprocess.run(["cargo", *arguments], cwd=ROOT, env=environment | {"CARGO_PROFILE_DEV_DEBUG": "0"}, check=True)


def install_tool() -> None:
    """Installs wasm-bindgen in the version of the library, without which the two don't work together."""
    packages = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    (version,) = (package["version"] for package in packages if package["name"] == "wasm-bindgen")
    if TOOL.exists() and subprocess.check_output([TOOL, "--version"], text=True).split()[1] == version:
        return
    options = ["--version", version, "--bin", "wasm-bindgen", "--debug", "--root", TOOL.parent.parent]
    cargo("install", "wasm-bindgen-cli", *options)


def build_module(folder: Path) -> None:
    options = ["--package=echostack-web", "--lib", "--crate-type=cdylib", "--release", "--target=wasm32-unknown-unknown"]
    cargo("rustc", *options, "--target-dir", TARGET, "--", "-Dwarnings", *LIMITS)
    module = TARGET / "wasm32-unknown-unknown" / "release" / "echostack_web.wasm"
    options = ["--target", "web", "--no-typescript", "--remove-name-section", "--remove-producers-section"]
    subprocess.run([TOOL, *options, "--out-dir", folder, module], check=True)


def grammars() -> list[dict]:
    """Returns the shipped grammars, the short ones first, with words to try."""
    shown = []
    for path in (ROOT / "testdata" / "grammars").iterdir():
        if path.name in LEFT_OUT:
            continue
        grammar, lexer = (path / "grammar.y").read_text(), (path / "lexer.l").read_text()
        cases = tomllib.loads((path / "cases.toml").read_text())
        title = f"{path.name}: {grammar.splitlines()[0].removeprefix('//').strip().rstrip('.')}"
        reject = [case["text"] for case in cases["reject"]]
        shown.append({"name": path.name, "title": title, "grammar": grammar, "lexer": lexer, "accept": cases["accept"], "reject": reject})
    return sorted(shown, key=lambda grammar: (len(grammar["grammar"]), grammar["name"]))


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    install_tool()
    shutil.copytree(ROOT / "docs" / "try", folder, dirs_exist_ok=True)
    build_module(folder)
    (folder / "grammars.json").write_text(json.dumps(grammars(), ensure_ascii=False))


if __name__ == "__main__":
    main()

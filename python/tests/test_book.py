"""Tests that the Python programs of the book run: the blocks of a page are one program, in a folder with some files."""

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import echostack as es

ROOT = Path(__file__).resolve().parents[2]


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with the files that the pages name."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    machine = es.ReservoirStackMachine(random_state=0).fit_language(es.Language.task("json"), prove=True)
    machine.save(tmp_path / "m.safetensors")
    machine.compile().save(tmp_path / "json.table")
    parquet.write_table(pyarrow.table({"tokens": [["[", "n", "]"], ["]"]]}), tmp_path / "words.parquet")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("page", "count"), [("README.md", 1), ("docs/format.md", 1), ("docs/infer.md", 1), ("python/README.md", 4)])
def test_the_programs_of_a_page_run(page, count, files):
    if page == "docs/format.md":
        pytest.importorskip("safetensors")
    if page == "python/README.md":
        pytest.importorskip("sklearn")
    programs = blocks(page)
    assert len(programs) == count
    scope = {"__name__": "a page of the book"}
    for program in programs:
        exec(compile(program, page, "exec"), scope)


def test_the_page_shows_its_parser():
    shown = blocks("docs/traces.md")
    script = (ROOT / "docs/traces/log_traces.py").read_text(encoding="utf-8")
    assert len(shown) == 1
    assert "".join("    " + line for line in shown[0].splitlines(keepends=True)) in script


BINARY = os.environ.get("ECHOSTACK_BINARY")
CONSTRAIN = "docs/constrain.md"


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A folder with the grammars that the page on language models exports, by its own commands."""
    if BINARY is None:
        pytest.skip("ECHOSTACK_BINARY is not set to the path of the echostack binary")
    folder = tmp_path_factory.mktemp("constrain")
    for shown in ("docs", "testdata"):
        (folder / shown).symlink_to(ROOT / shown)
    sessions = re.findall(r"^```console\n(.*?)^```", (ROOT / CONSTRAIN).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for command in re.findall(r"^\$ echostack (.*)", "".join(sessions), flags=re.MULTILINE):
        subprocess.run(f"{BINARY} --quiet {command}", shell=True, cwd=folder, check=True)
    return folder


def accepted(folder, grammar, text):
    (folder / "written.txt").write_bytes(text)
    return subprocess.run([BINARY, "--quiet", "check", grammar, "written.txt"], cwd=folder).returncode == 0


SOURCES = {"calculator": "testdata/wild/calculator", "json": "inferred"}


# xgrammar needs PyTorch, which is too large for CI: its program is run by hand, and skipped where it is not installed.
@pytest.mark.parametrize("tool", ["llguidance", "xgrammar"])
def test_a_program_writes_the_texts_that_the_page_shows(tool, exported):
    pytest.importorskip(tool)
    page = (ROOT / CONSTRAIN).read_text(encoding="utf-8")
    runs = re.findall(rf"^\$ python3 (docs/constrain/with_{tool}\.py .*)\n((?:(?!\$ |```).*\n)*)", page, flags=re.MULTILINE)
    assert runs
    for command, shown in runs:
        run = subprocess.run([sys.executable, *command.split()], cwd=exported, capture_output=True, text=True)
        # A text need not end with the end of a line.
        end = "" if run.stdout.endswith("\n") else "\n"
        assert run.stdout + end + run.stderr == shown, command
        grammar = SOURCES[Path(command.split()[1]).stem]
        assert (run.returncode == 0) == accepted(exported, grammar, run.stdout.encode()), command


def test_the_page_shows_the_loop_of_its_program():
    shown = blocks(CONSTRAIN)
    assert len(shown) == 1
    assert shown[0] in (ROOT / "docs/constrain/with_llguidance.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("tool", ["llguidance", "xgrammar"])
@pytest.mark.parametrize("source", SOURCES)
def test_what_noise_finishes_is_a_text_of_the_grammar(tool, source, exported):
    pytest.importorskip(tool)
    suffix = "gbnf" if tool == "xgrammar" else "lark"
    finished = 0
    for seed in range(12):
        command = [sys.executable, f"docs/constrain/with_{tool}.py", f"{source}.{suffix}", str(seed), "100"]
        run = subprocess.run(command, cwd=exported, capture_output=True)
        if run.returncode == 0:
            finished += 1
            assert accepted(exported, SOURCES[source], run.stdout), run.stdout
    assert finished > 0


def tiny_model(path):
    """Writes a model for llama.cpp with random weights, and with a token for each byte."""
    import gguf
    import numpy

    width, hidden, context = 64, 128, 1024
    pieces = [b"<unk>", b"<s>", b"</s>", *(b"<0x%02X>" % byte for byte in range(256))]
    kinds = [gguf.TokenType.UNKNOWN, *[gguf.TokenType.CONTROL] * 2, *[gguf.TokenType.BYTE] * 256]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(context)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(hidden)
    writer.add_head_count(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(pieces))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(pieces)
    writer.add_token_scores([0.0] * len(pieces))
    writer.add_token_types(kinds)
    random = numpy.random.default_rng(0)
    shapes = {"token_embd": (len(pieces), width), "output": (len(pieces), width)}
    shapes |= {f"blk.0.attn_{name}": (width, width) for name in ("q", "k", "v", "output")}
    shapes |= {"blk.0.ffn_gate": (hidden, width), "blk.0.ffn_up": (hidden, width), "blk.0.ffn_down": (width, hidden)}
    tensors = {name: 0.3 * random.standard_normal(shape) for name, shape in shapes.items()}
    tensors |= {name: numpy.ones(width) for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm")}
    for name, tensor in tensors.items():
        writer.add_tensor(f"{name}.weight", tensor.astype(numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_llama_cpp_writes_texts_of_the_grammars(exported):
    pytest.importorskip("xllamacpp")
    pytest.importorskip("gguf")
    tiny_model(exported / "model.gguf")

    def run(grammar, prompt):
        command = [sys.executable, "docs/constrain/with_llamacpp.py", grammar, "model.gguf", prompt, "200"]
        return subprocess.run(command, cwd=exported, capture_output=True)

    for source, grammar in SOURCES.items():
        # llama.cpp draws anew each time, and a model of noise does not often come to an end: in JSON, in every other run, in
        # the calculator, whose comments it likes, in every fourth.
        runs = (run(f"{source}.gbnf", "a") for _ in range(60))
        written = [done.stdout for done in itertools.islice((done for done in runs if done.returncode == 0), 2)]
        assert len(written) == 2
        assert all(accepted(exported, grammar, text) for text in written), written
    (exported / "refused.gbnf").write_text('root ::= root "a" | "a"\n')
    refused = run("refused.gbnf", "a")
    assert refused.returncode == 1 and b"failed to parse grammar" in refused.stderr

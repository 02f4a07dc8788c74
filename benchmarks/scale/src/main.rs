//! Measures the figures in docs/scale.md: `scale ENGINE functions` (or `rows`, `cluster`, `equal ECHOSTACK`,
//! `contexts`), where ENGINE is the path of the program echostack-engine and ECHOSTACK that of the program echostack.
//! Each measurement prints a part of the record. The data is generated from fixed seeds, in a temporary folder.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int32Array, Int64Array, ListArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Int32Type, Int64Type, Schema, UInt64Type};
use datafusion::common::cast::as_list_array;
use datafusion::logical_expr::{ColumnarValue, Volatility, create_udf};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use echostack::language::{WordKind, draw};
use echostack::study::practice;
use echostack::tasks::{Split, Task};
use echostack::teach::{read_contexts, record};
use echostack::{Alphabet, Limits, Manifest, Oracle, Params, SymbolId, Table, Trace, Word, certify};
use echostack_engine::{Models, TraceWriter, register, runtime};

/// The number of words from which rows are picked.
const POOL: usize = 100_000;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [engine, what, rest @ ..] = arguments.as_slice() else {
        bail!("usage: scale ENGINE functions|rows|cluster|equal ECHOSTACK|contexts [TOKENS]");
    };
    let folder = tempfile::tempdir()?;
    let bench = Bench { engine: std::fs::canonicalize(engine)?, folder: folder.path().to_path_buf() };
    match what.as_str() {
        "functions" => bench.functions(),
        "rows" => bench.rows(),
        "cluster" => bench.cluster(),
        "equal" => bench.equal(rest.first().context("equal needs the path of the program echostack")?),
        "contexts" => bench.contexts(rest.first().map_or("1e8", String::as_str).parse()?),
        other => bail!("there is no measurement {other}; use functions, rows, cluster, equal or contexts"),
    }
}

/// The program to measure, and the folder for data.
struct Bench {
    engine: PathBuf,
    folder: PathBuf,
}

impl Bench {
    /// Compares the table's verdicts on 50 million tokens with a function that only looks at them, and with a bare
    /// scan.
    fn functions(&self) -> Result<()> {
        let tokens = 50_000_000;
        let (rows, tokens) = write(&self.folder.join("in"), &pool(Task::Json, 200)?, 1, usize::MAX, tokens)?;
        let mut models = Models::default();
        models.add("json", &table(Task::Json)?.to_bytes()?, None)?;
        let threads = tokio::runtime::Builder::new_multi_thread().thread_stack_size(32 << 20).enable_all().build()?;
        println!("{rows} words, {tokens} tokens of JSON as numbers in Parquet, 11 runs of each in turn, medians\n");
        println!(
            "| partitions | bare scan, s | XOR, s | accepts, s | verdict, s | verdict / XOR |\n|---|---|---|---|---|---|"
        );
        threads.block_on(async {
            for partitions in [1, 2] {
                let config = SessionConfig::new().with_target_partitions(partitions);
                let session = SessionContext::new_with_config_rt(config, runtime(None)?);
                register(&session, &models);
                let list = DataType::new_list(DataType::Int32, true);
                session.register_udf(create_udf(
                    "xor_of",
                    vec![list],
                    DataType::Int32,
                    Volatility::Immutable,
                    Arc::new(xor),
                ));
                let path = self.folder.join("in").to_string_lossy().into_owned();
                session.register_parquet("t", format!("{path}/"), ParquetReadOptions::default()).await?;
                let queries = [
                    "SELECT count(*) FROM t WHERE words IS NOT NULL",
                    "SELECT count(*) FROM t WHERE xor_of(words) = 0",
                    "SELECT count(*) FROM t WHERE echostack_accepts('json', words)",
                    "SELECT count(*) FROM t WHERE echostack_verdict('json', words)['verdict'] = 'accept'",
                ];
                let mut times = vec![Vec::new(); queries.len()];
                for _ in 0..11 {
                    for (query, times) in queries.iter().zip(&mut times) {
                        let start = Instant::now();
                        session.sql(query).await?.collect().await?;
                        times.push(start.elapsed().as_secs_f64());
                    }
                }
                let [scan, xor, accepts, verdict] = [0, 1, 2, 3].map(|at: usize| median(times[at].clone()));
                println!(
                    "| {partitions} | {scan:.3} | {xor:.3} | {accepts:.3} | {verdict:.3} | {:.2} |",
                    verdict / xor
                );
            }
            Ok(())
        })
    }

    fn program(&self) -> Command {
        Command::new(&self.engine)
    }

    fn score(&self, input: &str, options: &[&str]) -> Result<(f64, f64)> {
        let out = self.folder.join("out");
        if out.exists() {
            std::fs::remove_dir_all(&out)?;
        }
        let mut command = self.program();
        command.current_dir(&self.folder).args(["score", "model", input, "--quiet", "--output", "out"]).args(options);
        run(&mut command)
    }

    /// Measures time and memory against the number of rows.
    fn rows(&self) -> Result<()> {
        table(Task::Json)?.save(self.folder.join("model"))?;
        let pool = pool(Task::Json, 30)?;
        let sizes = [1, 100_000, 1_000_000, 10_000_000];
        for size in sizes {
            write(&self.folder.join(size.to_string()), &pool, 1, size, usize::MAX)?;
        }
        println!(
            "| threads | rows | seconds, median of 7 | without start-up, µs per row | memory, MiB |\n|---|---|---|---|---|"
        );
        for threads in ["1", "2"] {
            let mut measured = vec![(Vec::new(), 0_f64); sizes.len()];
            for _ in 0..7 {
                for (size, (times, most)) in sizes.iter().zip(&mut measured) {
                    let (time, memory) = self.score(&format!("{size}/"), &["--threads", threads])?;
                    times.push(time);
                    *most = most.max(memory);
                }
            }
            let start = median(measured[0].0.clone());
            for (size, (times, memory)) in sizes.iter().zip(measured) {
                let time = median(times);
                let each = (time - start) / *size as f64 * 1e6;
                println!("| {threads} | {size} | {time:.3} | {each:.3} | {memory:.0} |");
            }
        }
        Ok(())
    }

    fn start(&self, arguments: &str, listens: u16) -> Result<Running> {
        let mut command = self.program();
        command.arg("cluster").args(arguments.split(' ')).env("RUST_LOG", "error").stderr(Stdio::null());
        let running = Running(command.spawn()?);
        let begin = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", listens)).is_err() {
            ensure!(begin.elapsed() < Duration::from_secs(30), "nothing listens on port {listens}");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(running)
    }

    /// Starts a scheduler and the given number of executors with one slot each.
    fn started(&self, executors: usize) -> Result<(u16, Vec<Running>)> {
        let scheduler = port()?;
        let read = format!("--read {}", self.folder.display());
        let mut all = vec![self.start(&format!("scheduler --bind 127.0.0.1:{scheduler} {read}"), scheduler)?];
        for _ in 0..executors {
            let own = port()?;
            let options = format!("--scheduler 127.0.0.1:{scheduler} --bind 127.0.0.1:{own} {read}");
            all.push(self.start(&format!("executor {options} --slots 1 --allow-root"), own)?);
        }
        std::thread::sleep(Duration::from_secs(2));
        Ok((scheduler, all))
    }

    /// Compares one process with one executor and with two executors.
    fn cluster(&self) -> Result<()> {
        let pool = pool(Task::Json, 200)?;
        let machine = {
            let oracle = Oracle::strict(Task::Json.automaton().context("JSON has an automaton")?)?;
            let words = pool.iter().take(300).map(|word| Word::Symbols(word.clone()));
            let traces: Vec<Trace> = words.filter_map(|word| record(&oracle, "", &word, Limits::default()).0).collect();
            let mut params = Task::Json.params(echostack::reservoir::ReservoirKind::Cycle, 256, 0);
            params.mode = echostack::recognize::Mode::Strict;
            params.check()?.fit(&Task::Json.alphabet(), &traces, &())?
        };
        let cases = [("table", 20_000_000, 3), ("machine", 20_000, 3)];
        println!(
            "| model | rows | tokens | one thread | two threads | one executor | two executors | two / one executor | two executors / two threads |"
        );
        println!("|---|---|---|---|---|---|---|---|---|");
        for (name, rows, times) in cases {
            match name {
                "table" => table(Task::Json)?.save(self.folder.join("model"))?,
                _ => machine.save(self.folder.join("model"))?,
            }
            let input = format!("{name}/");
            let (rows, tokens) = write(&self.folder.join(name), &pool, 16, rows, usize::MAX)?;
            let mut measured = vec![Vec::new(); 4];
            for _ in 0..times {
                measured[0].push(self.score(&input, &["--threads", "1"])?.0);
                measured[1].push(self.score(&input, &["--threads", "2"])?.0);
                for executors in [1, 2] {
                    let (scheduler, _running) = self.started(executors)?;
                    let address = format!("127.0.0.1:{scheduler}");
                    measured[1 + executors].push(self.score(&input, &["--cluster", &address])?.0);
                }
            }
            let rate: Vec<f64> = measured.into_iter().map(|times| rows as f64 / median(times)).collect();
            let rates: Vec<String> = rate.iter().map(|rate| format!("{rate:.0}")).collect();
            println!(
                "| {name} | {rows} | {tokens} | {} | {:.2} | {:.2} |",
                rates.join(" | "),
                rate[3] / rate[2],
                rate[3] / rate[1]
            );
        }
        Ok(())
    }

    /// Compares the verdicts of `echostack check` and `echostack score` on the same million words.
    fn equal(&self, echostack: &str) -> Result<()> {
        let table = table(Task::Json)?;
        table.save(self.folder.join("model"))?;
        let pool = pool(Task::Json, 200)?;
        let (rows, tokens) = write(&self.folder.join("in"), &pool, 4, 1_000_000, usize::MAX)?;
        let mut text = BufWriter::new(File::create(self.folder.join("words.txt"))?);
        for word in Picks(7).take(rows).map(|pick| &pool[pick % POOL]) {
            let names: Vec<&str> = word.iter().map(|symbol| table.alphabet().name(*symbol)).collect();
            writeln!(text, "{}", names.join(" "))?;
        }
        text.flush()?;
        let check = Command::new(echostack)
            .current_dir(&self.folder)
            .args(["check", "model", "words.txt", "--json"])
            .output()?;
        let mut told = Vec::with_capacity(rows);
        for line in String::from_utf8(check.stdout)?.lines() {
            let line: serde_json::Value = serde_json::from_str(line)?;
            told.push((line["verdict"].as_str().unwrap_or_default().to_string(), line["position"].as_u64()));
        }
        self.score("in/", &[])?;
        let mut differ = 0;
        let mut seen = 0;
        let mut counts = std::collections::BTreeMap::new();
        for file in std::fs::read_dir(self.folder.join("out"))? {
            let path: PathBuf = file?.path();
            if path.is_dir() {
                continue;
            }
            for batch in ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?.build()? {
                let batch = batch?;
                let part = |name: &str| batch.column_by_name(name).context("a column is missing").cloned();
                let (numbers, verdicts, positions) = (part("row")?, part("verdict")?, part("position")?);
                let (verdicts, positions) = (verdicts.as_string::<i32>(), positions.as_primitive::<UInt64Type>());
                for (at, row) in numbers.as_primitive::<Int64Type>().values().iter().enumerate() {
                    let (verdict, position) = &told[*row as usize];
                    let own = positions.is_valid(at).then(|| positions.value(at));
                    differ += usize::from(verdicts.value(at) != verdict || (own != *position && verdict == "reject"));
                    *counts.entry(verdict.clone()).or_insert(0) += 1;
                    seen += 1;
                }
            }
        }
        ensure!(seen == rows && told.len() == rows, "{seen} of {rows} rows came back");
        println!(
            "{rows} words, {tokens} tokens, {counts:?}: {differ} differ between `echostack check` and `echostack score`"
        );
        Ok(())
    }

    /// Measures the number of distinct contexts, and the time to learn from them, against the size of a corpus.
    fn contexts(&self, most: f64) -> Result<()> {
        println!(
            "| language | tokens | traces | distinct contexts | counting, s | tokens per second | learning, ms | proved |"
        );
        println!("|---|---|---|---|---|---|---|---|");
        for task in [Task::Json, Task::Dyck3] {
            let folder = self.folder.join(task.to_string());
            std::fs::create_dir(&folder)?;
            let (mut tokens, mut files, mut goal) = (0_u64, 0, 1e4);
            while goal <= most * 1.01 {
                // Existing files are kept, so that each corpus is part of the next one.
                while (tokens as f64) < goal {
                    let wanted = (goal - tokens as f64).min(1e7).ceil() as u64;
                    tokens += corpus(task, &folder.join(format!("{files:03}.parquet")), wanted, files)?;
                    files += 1;
                }
                let found = folder.join("contexts.jsonl");
                let mut command = self.program();
                command.current_dir(&folder).args([
                    "contexts",
                    ".",
                    "--quiet",
                    "--stack",
                    "4",
                    "--output",
                    "contexts.jsonl",
                ]);
                let start = Instant::now();
                let output = command.output()?;
                ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                let counting = start.elapsed().as_secs_f64();
                let told = String::from_utf8(output.stdout)?;
                let told = |name: &str| {
                    told.lines().find_map(|line| line.strip_prefix(name)).map_or("", str::trim).to_string()
                };
                let file = read_contexts(&mut std::io::BufReader::new(File::open(&found)?))?;
                let exercises: Vec<_> = file.contexts.iter().map(|context| context.exercise.clone()).collect();
                let mut params = Params::provable(echostack::reservoir::ReservoirKind::Cycle, 256, 0);
                (params.mode, params.view) = (echostack::recognize::Mode::Strict, echostack::recognize::View::Symbol);
                let start = Instant::now();
                let (machine, wrong) = practice(&params.check()?, &file.alphabet, &exercises, &())?;
                let learning = start.elapsed().as_secs_f64() * 1e3;
                let oracle = Oracle::strict(task.automaton().context("the task has no automaton")?)?;
                let proof =
                    certify::Prover::new(&oracle, echostack::recognize::View::Symbol, &())?.prove(&machine, &())?;
                let proved = wrong == 0 && matches!(proof, echostack::certify::Proof::Proved(_));
                println!(
                    "| {task} | {tokens} | {} | {} | {counting:.2} | {:.0} | {learning:.0} | {} |",
                    told("traces"),
                    told("contexts"),
                    tokens as f64 / counting,
                    if proved { "yes" } else { "no" }
                );
                goal *= 10_f64.sqrt();
            }
        }
        Ok(())
    }
}

fn table(task: Task) -> Result<Table> {
    let automaton = task.automaton().context("the task has no automaton")?;
    Ok(Table::new(&Oracle::strict(automaton)?, Manifest::default())?)
}

/// Draws words of a task. Nine out of ten are valid, the others are near misses.
fn pool(task: Task, longest: usize) -> Result<Vec<Vec<SymbolId>>> {
    let language = task.language().context("the task has no language")?;
    let oracle = Oracle::strict(task.automaton().context("the task has no automaton")?)?;
    let mut random = Split::Test.generator(1);
    let mut words = Vec::with_capacity(POOL);
    for number in 0..POOL {
        let kind = if number % 10 == 9 { WordKind::NearMiss } else { WordKind::Valid };
        match draw(&*language, &oracle, kind, 1..=longest, &mut random) {
            Some(Word::Symbols(word)) => words.push(word),
            _ => bail!("there are no such words"),
        }
    }
    Ok(words)
}

/// A linear congruential generator, of which the upper bits are used.
struct Picks(u64);

impl Iterator for Picks {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some((self.0 >> 33) as usize)
    }
}

/// Writes rows of picked words as numbers, in the given number of files, until there are enough rows or tokens. Returns
/// the number of rows and tokens written.
fn write(folder: &Path, pool: &[Vec<SymbolId>], files: usize, rows: usize, tokens: usize) -> Result<(usize, usize)> {
    std::fs::create_dir_all(folder)?;
    let field = |name, data| Field::new(name, data, true);
    let list = DataType::new_list(DataType::Int32, true);
    let schema = Arc::new(Schema::new(vec![field("row", DataType::Int64), field("words", list)]));
    let (mut picks, mut row, mut written) = (Picks(7), 0, 0);
    for file in 0..files {
        let out = File::create(folder.join(format!("{file:03}.parquet")))?;
        let mut writer = ArrowWriter::try_new(out, schema.clone(), None)?;
        let (rows_here, tokens_here) = (rows / files * (file + 1), tokens / files * (file + 1));
        while row < rows_here && written < tokens_here {
            let words: Vec<&Vec<SymbolId>> =
                (&mut picks).take(8192.min(rows_here - row)).map(|pick| &pool[pick % pool.len()]).collect();
            let numbers = (row as i64)..(row + words.len()) as i64;
            let word =
                |word: &&Vec<SymbolId>| Some(word.iter().map(|symbol| Some(symbol.index() as i32)).collect::<Vec<_>>());
            let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(words.iter().map(word));
            row += words.len();
            written += words.iter().map(|word| word.len()).sum::<usize>();
            let columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from_iter_values(numbers)), Arc::new(lists)];
            writer.write(&RecordBatch::try_new(schema.clone(), columns)?)?;
        }
        writer.close()?;
    }
    Ok((row, written))
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Computes the XOR of the elements of each list, which is the least that a function that looks at all of them must do.
fn xor(arguments: &[ColumnarValue]) -> datafusion::common::Result<ColumnarValue> {
    let arrays = ColumnarValue::values_to_arrays(arguments)?;
    let lists = as_list_array(&arrays[0])?;
    let values = lists.values().as_primitive::<Int32Type>().values();
    let of = |ends: &[i32]| values[ends[0] as usize..ends[1] as usize].iter().fold(0, |all, value| all ^ value);
    let answers: Int32Array = lists.value_offsets().windows(2).map(of).collect::<Vec<_>>().into();
    Ok(ColumnarValue::Array(Arc::new(answers)))
}

/// Runs a command to its end. Returns the seconds it took and the maximum memory it used, in MiB.
fn run(command: &mut Command) -> Result<(f64, f64)> {
    let start = Instant::now();
    let mut child = command.stdout(Stdio::null()).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0.;
    loop {
        if let Some(ended) = child.try_wait()? {
            ensure!(ended.success(), "{command:?} failed");
            return Ok((start.elapsed().as_secs_f64(), most));
        }
        let told = std::fs::read_to_string(&status).unwrap_or_default();
        let line = told.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        most = line.and_then(|kib| kib.trim().parse::<f64>().ok()).map_or(most, |kib| kib / 1024.);
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A process that is killed when the measurement ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Writes traces of new words, half of them valid, until they have at least `wanted` tokens. Returns the number of
/// tokens.
fn corpus(task: Task, path: &Path, wanted: u64, seed: u64) -> Result<u64> {
    let language = task.language().context("the task has no language")?;
    let oracle = Oracle::strict(task.automaton().context("the task has no automaton")?)?;
    let alphabet: Arc<Alphabet> = task.alphabet();
    let mut writer = TraceWriter::new(&alphabet, BufWriter::new(File::create(path)?))?;
    let mut random = Split::Train.generator(seed);
    let kinds = [WordKind::Valid, WordKind::NearMiss, WordKind::Valid, WordKind::Random];
    let mut tokens = 0;
    for number in 0.. {
        if tokens >= wanted {
            break;
        }
        let word = draw(&*language, &oracle, kinds[number % kinds.len()], 1..=200, &mut random);
        let word = word.context("there are no such words")?;
        if let (Some(trace), _) = record(&oracle, format!("{seed}:{number}"), &word, Limits::default()) {
            tokens += trace.steps().len() as u64;
            writer.write(trace)?;
        }
    }
    writer.finish()?;
    Ok(tokens)
}

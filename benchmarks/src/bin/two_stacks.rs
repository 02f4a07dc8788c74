//! Machines with two stacks (docs/two-stacks.md): what they are taught, how long learning, proof and runs take, and how
//! many verdicts and results are wrong.
//!
//! ```console
//! two_stacks beavers                     busy beavers, the last one for 47,176,870 steps
//! two_stacks words                       increment, a^n b^n c^n, multiplication, on long words
//! two_stacks seeds                       recognition with three reservoirs and ten seeds
//! two_stacks controls                    what tables and machines with one stack make of the same words
//! two_stacks flare FOLDER [ACTIONS]      languages of FLaRe on its published words, each within so many actions
//! ```

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

use echostack::machine::Params;
use echostack::recognize::{Mode, Outcome, View};
use echostack::reservoir::ReservoirKind;
use echostack::symbol::SymbolId;
use echostack::teach::Step as TraceStep;
use echostack::turing::{
    Decision, RunLimits, Teacher, TwoStackCertificate, TwoStackLearned, TwoStackLearning, TwoStackMachine,
    TwoStackRules, TwoStackRun, TwoStackStep, Which, check,
};
use echostack::{Recognizer, Trace, Verdict, Word};
use echostack_benchmarks::measure::cpu_seconds;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Outcomes<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcomes<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["beavers"] => beavers(),
        ["words"] => words(),
        ["seeds"] => seeds(),
        ["controls"] => controls(),
        ["flare", folder] => flare(Path::new(folder), 200_000),
        ["flare", folder, actions] => flare(Path::new(folder), actions.parse()?),
        _ => Err("the first argument is beavers, words, seeds, controls or flare; see the top of the program".into()),
    }
}

fn teacher(name: &str) -> Outcomes<Teacher> {
    Ok(Teacher::read(&std::fs::read_to_string(Path::new("testdata/turing").join(name))?)?)
}

/// Teaches a machine, and prints how long it took and whether it is proved.
fn learn(name: &str, teacher: &Teacher, learning: &TwoStackLearning) -> Outcomes<TwoStackLearned> {
    let (began, before) = (Instant::now(), cpu_seconds());
    let learned = learning.learn(teacher, &())?;
    let (seconds, cpu) = (began.elapsed().as_secs_f64(), cpu_seconds() - before);
    let checked = match &learned.certificate {
        None => format!("not proved: {}", learned.open.first().map_or(String::new(), ToString::to_string)),
        Some(certificate) => {
            let before = cpu_seconds();
            check(certificate, &learned.machine, teacher, &())?;
            let size = certificate.to_json().len();
            format!("{} cells, checked in {:.2} CPU s, {size} bytes", certificate.cells(), cpu_seconds() - before)
        }
    };
    let entries = teacher.machine().map_or(String::new(), |machine| format!("{} entries, ", machine.entries()));
    let rules = teacher.rules().rules().len();
    let TwoStackLearned { words, contexts, added, rounds, .. } = &learned;
    println!(
        "{name}: {entries}{rules} rules; {words} words, {contexts} contexts, {added} added, {rounds} rounds; learned and \
         proved in {cpu:.2} CPU s ({seconds:.2} s); {checked}"
    );
    Ok(learned)
}

/// Returns the contents of the tape, without blanks around it.
fn tape(teacher: &Teacher, run: &TwoStackRun) -> Vec<usize> {
    let Some(machine) = teacher.machine() else { return Vec::new() };
    let [left, right] = &run.stacks;
    let cells = left.iter().chain(right.iter().rev()).map(|symbol| symbol.index());
    let cells: Vec<usize> = cells.filter(|&symbol| symbol < machine.symbols().len()).collect();
    let written = |cell: &usize| machine.symbols()[*cell] != machine.blank();
    match (cells.iter().position(written), cells.iter().rposition(written)) {
        (Some(first), Some(last)) => cells[first..=last].to_vec(),
        _ => Vec::new(),
    }
}

fn beavers() -> Outcomes<()> {
    for states in 2..=5 {
        let name = format!("busy-beaver-{states}.tm");
        let teacher = teacher(&name)?;
        let learned = learn(&name, &teacher, &TwoStackLearning::default())?;
        let machine = learned.machine;
        let memory = machine.clone().memoized();
        let blank = Word::Symbols(Vec::new());
        let before = cpu_seconds();
        let run = memory.run(&blank, RunLimits::default());
        let cells = tape(&teacher, &run);
        let seconds = cpu_seconds() - before;
        let machine_tape = teacher.machine().map(|machine| machine.run(&[], u64::MAX));
        let same = machine_tape.is_some_and(|own| own.cells == cells && own.steps + 1 == run.actions);
        let one = teacher.machine().and_then(|machine| machine.symbols().iter().position(|name| name == "1"));
        let ones = cells.iter().filter(|&&cell| Some(cell) == one).count();
        println!(
            "  with memory: {} steps, {ones} ones on {} cells, {seconds:.2} CPU s; as the tape: {same}",
            run.actions - 1,
            cells.len()
        );
        let limits = RunLimits { actions: 1_000_001, ..RunLimits::default() };
        let ends: Vec<TwoStackRun> = [&machine, &memory]
            .into_iter()
            .map(|machine| {
                let before = cpu_seconds();
                let end = machine.run(&blank, limits);
                println!("  up to a million steps: {} actions in {:.2} CPU s", end.actions, cpu_seconds() - before);
                end
            })
            .collect();
        println!("  equal without and with memory: {}", ends[0] == ends[1]);
    }
    Ok(())
}

/// Returns the machine of a text, with memory.
fn taught(name: &str, learning: &TwoStackLearning) -> Outcomes<(Teacher, TwoStackMachine)> {
    let teacher = teacher(name)?;
    let machine = learn(name, &teacher, learning)?.machine.memoized();
    Ok((teacher, machine))
}

fn tokens(numbers: &[usize]) -> Word {
    Word::Symbols(numbers.iter().map(|&number| SymbolId::new(number)).collect())
}

fn words() -> Outcomes<()> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let learning = TwoStackLearning { words: 1_022, max_length: 8, ..TwoStackLearning::default() };
    let (increment, machine) = taught("increment.tm", &learning)?;
    let (before, mut wrong, mut actions) = (cpu_seconds(), 0, 0);
    for _ in 0..1_000 {
        let digits: Vec<usize> = (0..10_000).map(|_| random.random_range(0..2)).collect();
        let run = machine.run(&tokens(&digits), RunLimits::default());
        actions += run.actions;
        wrong += usize::from(!run.outcome.is_accept() || tape(&increment, &run) != plus_one(&digits));
    }
    println!("  1,000 numbers of 10,000 bits: {wrong} wrong, {actions} actions in {:.1} CPU s", cpu_seconds() - before);

    for (name, largest) in [("anbncn.stacks", 10_000), ("anbncn.tm", 1_000)] {
        let (_, machine) = taught(name, &TwoStackLearning::default())?;
        let (before, mut wrong, mut count) = (cpu_seconds(), 0, 0);
        let sizes = (0..=50).chain([100, 300, 1_000, 3_000, 10_000]).filter(|&n| n <= largest);
        for n in sizes {
            for word in near(n, &mut random) {
                let run = machine.run(&tokens(&word), RunLimits { actions: u64::MAX, ..RunLimits::default() });
                wrong += usize::from(run.outcome.is_accept() != is_anbncn(&word));
                count += 1;
            }
        }
        println!("  up to n = {largest}: {wrong} of {count} words wrong, {:.1} CPU s", cpu_seconds() - before);
    }

    let (multiply, machine) = taught("multiply.tm", &TwoStackLearning::default())?;
    let (before, mut wrong, mut actions) = (cpu_seconds(), 0, 0);
    let pairs = (0..=30).flat_map(|a| (0..=30).map(move |b| (a, b))).chain([(100, 100), (7, 500), (500, 7)]);
    for (a, b) in pairs {
        let word = [vec![0; a], vec![1], vec![0; b], vec![2]].concat();
        let run = machine.run(&tokens(&word), RunLimits { actions: u64::MAX, ..RunLimits::default() });
        let product = [word, vec![0; a * b]].concat();
        wrong += usize::from(!run.outcome.is_accept() || tape(&multiply, &run) != product);
        actions += run.actions;
    }
    println!(
        "  964 products, up to 500 times 7: {wrong} wrong, {actions} actions in {:.1} CPU s",
        cpu_seconds() - before
    );
    Ok(())
}

/// Adds one to a binary number whose first digit is the highest.
fn plus_one(digits: &[usize]) -> Vec<usize> {
    let mut sum = digits.to_vec();
    for digit in sum.iter_mut().rev() {
        *digit = 1 - *digit;
        if *digit == 1 {
            return sum;
        }
    }
    [&[1], &sum[..]].concat()
}

fn is_anbncn(word: &[usize]) -> bool {
    let n = word.len() / 3;
    n > 0 && word.len() == 3 * n && word.iter().enumerate().all(|(at, &token)| token == at / n)
}

/// Returns a^n b^n c^n, near misses of it, and a random word of its length.
fn near(n: usize, random: &mut ChaCha8Rng) -> Vec<Vec<usize>> {
    let valid: Vec<usize> = (0..3).flat_map(|token| vec![token; n]).collect();
    let mut words = vec![valid.clone(), (0..3 * n).map(|_| random.random_range(0..3)).collect()];
    for _ in 0..8 {
        let mut word = valid.clone();
        let at = random.random_range(0..=word.len());
        match random.random_range(0..3) {
            0 => word.insert(at, random.random_range(0..3)),
            1 if at < word.len() => _ = word.remove(at),
            _ if at < word.len() => word[at] = random.random_range(0..3),
            _ => {}
        }
        words.push(word);
    }
    words
}

/// The words that recognition is tested on: those of all sizes up to 40, and some larger ones.
fn recognition() -> Vec<Vec<usize>> {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    (0..=40).chain([60, 100, 200]).flat_map(|n| near(n, &mut random)).collect()
}

fn seeds() -> Outcomes<()> {
    let tested = recognition();
    for name in ["anbncn.stacks", "anbncn.tm"] {
        let teacher = teacher(name)?;
        for kind in ReservoirKind::ALL {
            let (mut wrong, mut proved, mut cells, before) = (Vec::new(), 0, Vec::new(), cpu_seconds());
            for seed in 0..10 {
                let learning = TwoStackLearning { seed, ..TwoStackLearning::default().with_reservoir(kind, 256, seed) };
                let learned = learning.learn(&teacher, &())?;
                proved += usize::from(learned.certificate.is_some());
                cells.extend(learned.certificate.as_ref().map(TwoStackCertificate::cells));
                let machine = learned.machine.memoized();
                let is_wrong = |word: &&Vec<usize>| {
                    machine.run(&tokens(word), RunLimits::default()).outcome.is_accept() != is_anbncn(word)
                };
                wrong.push(tested.iter().filter(is_wrong).count());
            }
            println!(
                "{name}, {kind}: {proved} of 10 proved, cells {cells:?}; wrong of {} words: {wrong:?}; {:.1} CPU s",
                tested.len(),
                cpu_seconds() - before
            );
        }
    }
    Ok(())
}

/// A table on the topmost symbols of both stacks, learned from traces.
struct Table {
    depth: usize,
    decisions: HashMap<(Option<SymbolId>, [Vec<SymbolId>; 2]), Decision>,
}

impl Table {
    fn new(depth: usize, rules: &TwoStackRules, learning: &TwoStackLearning) -> Self {
        let mut table = Self { depth, decisions: HashMap::new() };
        for exercise in learning.record(rules, &learning.words_for(rules)) {
            let key = (exercise.next.token(), exercise.stacks.map(|stack| table.top(&stack)));
            table.decisions.entry(key).or_insert(exercise.decision);
        }
        table
    }

    fn top(&self, stack: &[SymbolId]) -> Vec<SymbolId> {
        stack[stack.len().saturating_sub(self.depth)..].to_vec()
    }

    /// Returns whether the table accepts a word, within a million actions.
    fn accepts(&self, word: &[usize]) -> bool {
        let (mut stacks, mut at) = ([Vec::new(), Vec::new()], 0);
        for _ in 0..1_000_000 {
            let next = word.get(at).map(|&token| SymbolId::new(token));
            let key = (next, [self.top(&stacks[0]), self.top(&stacks[1])]);
            match (self.decisions.get(&key).map(|decision| &decision.step), next) {
                (Some(TwoStackStep::Act(changes)), _) => {
                    for (stack, change) in stacks.iter_mut().zip(changes) {
                        let Some(left) = stack.len().checked_sub(change.pop as usize) else { return false };
                        stack.truncate(left);
                        stack.extend(&change.push);
                    }
                }
                (Some(TwoStackStep::Rest(shift)), None) => return *shift,
                (Some(TwoStackStep::Rest(true)), Some(token)) => {
                    stacks[Which::First.index()].push(token);
                    at += 1;
                }
                _ => return false,
            }
        }
        false
    }
}

fn controls() -> Outcomes<()> {
    let tested = recognition();
    let summary = |name: &str, accepts: &dyn Fn(&[usize]) -> bool| {
        let [mut wrong, mut missed] = [0, 0];
        for word in &tested {
            let is_wrong = accepts(word) != is_anbncn(word);
            wrong += usize::from(is_wrong);
            missed += usize::from(is_wrong && is_anbncn(word));
        }
        println!(
            "  {name}: {wrong} of {} words wrong, {missed} of them valid words that are not accepted",
            tested.len()
        );
    };
    for name in ["anbncn.stacks", "anbncn.tm"] {
        println!("{name}:");
        let (teacher, learning) = (teacher(name)?, TwoStackLearning::default());
        for depth in [1, 2, 4] {
            let table = Table::new(depth, teacher.rules(), &learning);
            summary(&format!("a table on {depth} topmost symbols of both stacks"), &|word| table.accepts(word));
        }
        let without = TwoStackLearning { prove: false, ..learning.clone() }.learn(&teacher, &())?.machine.memoized();
        summary("a machine from the same traces, without a proof", &|word| {
            without.run(&tokens(word), RunLimits::default()).outcome.is_accept()
        });
        let proved = learning.learn(&teacher, &())?.machine.memoized();
        summary("the machine that is proved", &|word| {
            proved.run(&tokens(word), RunLimits::default()).outcome.is_accept()
        });
    }
    // A machine with one stack has no rules for this language. It is taught to shift everything and to say at the end whether
    // the word is in the language, from the same words and from valid ones of up to 30 tokens.
    println!("a machine with one stack, which only shifts:");
    let rules = teacher("anbncn.stacks")?.rules().clone();
    let alphabet = std::sync::Arc::new(echostack::Alphabet::new(["a", "b", "c"], ["S"])?);
    let mut taught: HashSet<Vec<usize>> = HashSet::new();
    for word in TwoStackLearning::default().words_for(&rules) {
        taught.insert(word.iter().map(|symbol| symbol.index()).collect());
    }
    taught.extend((0..=10).map(|n| (0..3).flat_map(|token| vec![token; n]).collect()));
    let mut taught: Vec<_> = taught.into_iter().collect();
    taught.sort();
    let trace = |word: &Vec<usize>| {
        let step = |at: usize| TraceStep {
            reductions: Vec::new(),
            output: vec![f64::from(u8::from(is_anbncn(&word[..at])))],
            shift: true,
        };
        Trace::new(&alphabet, "control", tokens(word), (0..=word.len()).map(step).collect())
    };
    let traces = taught.iter().map(trace).collect::<Result<Vec<_>, _>>()?;
    for kind in ReservoirKind::ALL {
        let params = Params { view: View::Reservoir, mode: Mode::Tolerant, ..Params::standard(kind, 256, 0) };
        let machine = params.fit(&alphabet, &traces)?;
        summary(&kind.to_string(), &|word| machine.judge(&tokens(word)) == Verdict::Accept);
    }
    Ok(())
}

/// The languages that no machine with one stack recognizes.
const LANGUAGES: [&str; 8] = [
    "marked-copy",
    "missing-duplicate-string",
    "odds-first",
    "unmarked-reversal",
    "bucket-sort",
    "binary-addition",
    "binary-multiplication",
    "compute-sqrt",
];

fn flare(folder: &Path, most: u64) -> Outcomes<()> {
    for name in LANGUAGES {
        let (_, machine) = taught(&format!("flare/{name}.tm"), &TwoStackLearning::default())?;
        let before = cpu_seconds();
        let (mut right, mut wrong, mut stopped, mut longest, mut actions) = ([0; 2], 0, 0, 0, 0);
        for set in [
            "",
            "datasets/test",
            "datasets/test-short-held-out",
            "datasets/validation-short",
            "datasets/validation-long",
        ] {
            let path = folder.join(name).join(set);
            let read = |file: &str| std::fs::read_to_string(path.join(file));
            for (line, label) in read("main.tok")?.lines().zip(read("labels.txt")?.lines()) {
                let word = machine.alphabet().word(line.split_whitespace())?;
                let run = machine.run(&word, RunLimits { actions: most, ..RunLimits::default() });
                actions += run.actions;
                match run.outcome {
                    Outcome::Stopped { .. } => stopped += 1,
                    outcome if outcome.is_accept() == (label.trim() == "1") => {
                        right[usize::from(outcome.is_accept())] += 1;
                        longest = longest.max(word.len());
                    }
                    _ => wrong += 1,
                }
            }
        }
        println!(
            "  {} right ({} in the language), {wrong} wrong, {stopped} stopped after {most} actions; up to {longest} tokens, \
             {actions} actions in {:.1} CPU s",
            right[0] + right[1],
            right[1],
            cpu_seconds() - before
        );
    }
    Ok(())
}

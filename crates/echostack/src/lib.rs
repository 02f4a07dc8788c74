//! Reservoir stack machines: echo state networks with an explicit stack, driven like an LR(1) automaton.
//!
//! A fixed random recurrent network, the *reservoir*, turns the input so far and the stack into two state vectors. Small
//! classifiers, the *readouts*, decide from these vectors what to pop, what to push, whether to shift and what to output.
//! Only the readouts are trained, by convex optimization, from about a hundred annotated words and in well under a second.
//! The model was introduced by Paaßen, Schulz and Hammer in *Reservoir Stack Machines* (Neurocomputing, 2021).
//!
//! Beyond training machines as in the paper, this crate can [prove](certify) that a machine agrees with an automaton on
//! every word of every length, [read back](extract) the automaton that a machine implements,
//! [construct](extract::construct) a machine from an automaton without training, and [compile](table) the result to a
//! table that runs as fast as a generated parser.
//!
//! The crate is for people who study reservoir computing, formal languages or length generalization, and for those who
//! want a recognizer learned from an automaton, a grammar (see the crate `echostack-grammar`) or recorded parser actions.
//! If you have a grammar and only need a parser, use a parser generator.
//!
//! # Example
//! ```
//! use echostack::reservoir::ReservoirKind;
//! use echostack::tasks::{Split, Task};
//! use echostack::{Params, Recognizer, Verdict};
//!
//! // A hundred words of balanced brackets, each annotated with what a parser does on it.
//! let traces = Task::Dyck1.examples(Split::Train, 100, 0);
//! let params = Params::standard(ReservoirKind::Cycle, 256, 0);
//! let machine = params.fit(&Task::Dyck1.alphabet(), &traces)?;
//!
//! let word = machine.alphabet().word("( ( ) ( ) )".split(' '))?;
//! assert_eq!(machine.judge(&word), Verdict::Accept);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! The `examples` folder has longer programs: `prove_and_compile` goes from a language to a proved machine and a table,
//! `own_teacher` trains from annotations made by your own code, `own_reservoir` has a reservoir of its own,
//! `stream_tokens` reads one token at a time, and `table_only` judges words without any machines.
//!
//! # Terms
//! - A *symbol* is a terminal or a nonterminal of an [`Alphabet`]. A *token* is a terminal at its place in a [`Word`]. The
//!   *lookahead* is the next token, or the end of the word ([`Lookahead`]).
//! - An [`Automaton`] is a list of LR(1) rules: given a *suffix* of the stack and a lookahead, pop and push. An
//!   [`Oracle`] runs one. A *configuration* is the stack together with what is to be done next. A stack is *viable* if
//!   some continuation of the input leads from it to acceptance.
//! - A *recognizer* ([`Recognizer`]) judges words: an oracle, a machine or a table. It reads one word in a [`Session`] and
//!   returns a [`Verdict`], or an [`Outcome`](recognize::Outcome), which is a verdict without the expected tokens. A *strict* recognizer rejects at the first token that cannot follow; a *tolerant* one, as in
//!   the paper, skips such tokens and decides at the end.
//! - A [`Trace`] annotates one word with what a parser does on it: pops, pushes, shifts and outputs. A *teacher* is
//!   whatever produces traces. An *exercise* is a single decision without a word that leads to it
//!   ([`teach::Exercise`]); a *context* is such a decision for a suffix of the stack and of the input, with the number
//!   of times that a corpus requires it ([`teach::Context`]).
//! - A [`Machine`] is a reservoir, a stack and trained readouts.
//! - A [`Certificate`] proves that a machine agrees with an automaton on every word. It divides all configurations into
//!   *cells*, each given by a readout, a suffix of the stack and a suffix of the input, and bounds the readout on each
//!   cell.
//! - *Extraction* finds the automaton that a machine implements ([`extract::extract`]).
//! - A [`Table`] is an automaton compiled for speed. A [`Scanner`] runs one word through it, and [`table::Lanes`] many
//!   words at once, by *frames*: pieces into which the stack is cut.
//! - A [`Model`] is a machine or a table, as loaded from a file. A *model file* always holds a machine; tables have a
//!   file format of their own.
//!
//! # Modules
//! Each module uses only modules that are listed before it.
//! - [`symbol`]: alphabets, tokens and words. [`suffix`]: suffixes of the stack and of the input. [`spelling`]: identifiers
//!   for the names of tokens.
//! - [`control`]: progress and cancellation. [`file`](mod@file) and [`manifest`]: files, and what they say of their origin.
//! - [`recognize`]: recognizers, sessions, verdicts, limits and parse trees.
//! - [`automaton`]: LR(1) automata, their oracles, and grammars for other tools.
//! - [`table`]: automata compiled to tables and to source code.
//! - [`teach`]: traces, exercises and corpora. [`language`]: words to learn from and to test with.
//! - [`reservoir`]: the kinds of reservoir. [`readout`]: support vector machines and ridge regression.
//! - [`machine`]: parameters, training and model files. [`model`]: a machine or a table from a file.
//! - [`turing`]: machines with two stacks, which simulate Turing machines.
//! - [`certify`]: proofs. [`extract`]: from machines to automata and back.
//! - [`study`]: training that tests or proves itself. [`tasks`]: the paper's nine tasks.
//!
//! # Features
//! - `machine` (default): neural machines, that is, reservoirs, readouts, training, and the proofs about them. It brings
//!   the dependencies that take long to compile, such as faer.
//!
//! Without it, as in `echostack = { version = "0.1", default-features = false }`, there are automata, tables, traces and
//! languages, and [`certify`] compares tables with automata, and automata with parsers. The modules [`reservoir`],
//! [`readout`], [`machine`], [`extract`], [`turing`] and [`study`] are missing. A [`Model`] is then always a table:
//! [`FileError::NoMachines`](file::FileError::NoMachines) says that a file has a machine.
//!
//! # Errors
//! Every error says what was given, what is needed and what to do. Error types are enums, one for each operation that
//! can fail in its own way ([`machine::FitError`], [`certify::CertifyError`], [`file::FileError`], and so on); variants
//! will be added, so a `match` needs a wildcard arm. Rejecting a word is not an error but a [`Verdict`].
//!
//! # Limits
//! Words, models, automata and certificates may come from anyone. Reading them cannot panic, and nothing is allocated in
//! proportion to a number that a file merely claims. [`Limits`] bounds the depth of the stack and the number of actions per
//! token; a run that reaches a limit ends with [`Verdict::Stopped`]. Long computations take a [`Control`], which reports
//! progress and can cancel them.
//!
//! # Determinism
//! The same seeds give the same results, whatever the number of threads. Random numbers come from ChaCha8. Running a
//! machine gives the same bits on every CPU. Training uses linear algebra whose last bits may depend on the CPU, but
//! its results are stored in the model file.

#![cfg_attr(docsrs, feature(doc_cfg))]
// Without machines, what only they use is left over, and code that runs a machine cannot be reached. The build with
// machines has these lints for both.
#![cfg_attr(not(feature = "machine"), allow(dead_code, unreachable_code))]

pub mod automaton;
pub mod certify;
pub mod control;
pub mod digest;
#[cfg(feature = "machine")]
pub mod extract;
pub mod file;
mod index;
pub mod language;
#[cfg(feature = "machine")]
pub mod machine;
pub mod manifest;
pub mod model;
pub mod name;
#[cfg(not(feature = "machine"))]
mod no_machine;
#[cfg(feature = "machine")]
pub mod readout;
pub mod recognize;
#[cfg(feature = "machine")]
pub mod reservoir;
#[cfg(feature = "machine")]
mod simd;
pub mod spelling;
#[cfg(feature = "machine")]
pub mod study;
pub mod suffix;
pub mod symbol;
pub mod table;
pub mod tasks;
pub mod teach;
#[cfg(feature = "machine")]
pub mod turing;
mod undo;

pub use automaton::{Automaton, Oracle};
pub use certify::Certificate;
#[cfg(feature = "machine")]
pub use certify::Prover;
pub use control::Control;
#[cfg(feature = "machine")]
pub use machine::{Machine, Params};
pub use manifest::Manifest;
pub use model::Model;
pub use recognize::{Limits, Recognizer, Session, Verdict};
#[cfg(feature = "machine")]
pub use study::Study;
pub use symbol::{Alphabet, Lookahead, SymbolId, Word};
pub use table::{Scanner, Table};
pub use teach::Trace;

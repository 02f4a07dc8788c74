//! Reservoir stack machines: echo state networks with an explicit stack, driven like an LR(1)-automaton.
//!
//! A fixed random recurrent net (the [`Reservoir`]) turns the input so far and the stack into two state vectors; small
//! trained classifiers decide on them what to pop, what to push, whether to shift and what to output. Only the
//! classifiers are trained, by convex optimisation, from about a hundred annotated words, in well under a second. The
//! model is that of Paaßen, Schulz and Hammer, *Reservoir Stack Machines*, 2021.
//!
//! **For** people who study reservoir computing, formal languages and length generalisation, and for those who have an
//! automaton, a grammar (see the crate `echostack-grammar`) or recorded parser actions and want a recogniser that learned
//! them. **Look elsewhere** if you have a grammar and only want a parser: a parser generator is the right tool.
//!
//! # The words we use
//! - A *symbol* is a terminal or a nonterminal of an [`Alphabet`]; a *token* is a terminal in a [`Word`].
//! - A *[`Trace`]* is the teaching signal for one word: pops, pushes, shifts, outputs.
//! - A *[`Reservoir`]* turns a sequence into a *state*.
//! - A *readout* decides on a pair of states.
//! - A *[`Machine`]* is a reservoir, a stack and trained readouts.
//! - A *[`Verdict`]* is what a recogniser says of a word.
//!
//! # The modules
//! - [`symbol`]: alphabets, tokens, words. [`recognize`]: sessions, verdicts, limits, and the loop of Algorithms 1 and 2.
//! - [`automaton`]: the LR(1)-automaton, its oracle, its viable stacks. [`teach`]: traces.
//! - [`reservoir`]: the trait and its kinds. [`readout`]: support vector machines and ridge regression.
//! - [`machine`]: parameters, training (Algorithm 3), running (Algorithm 2). [`certify`]: proofs for all words.
//!   [`extract`]: the automaton that a machine is. [`table`]: automata as tables. [`language`]: words to learn from. [`study`]: learning that tests itself, or proves itself. [`tasks`]: the
//!   paper's nine tasks.
//!
//! # A whole small program
//! ```
//! use echostack::tasks::{ReservoirKind, Split, Task};
//! use echostack::{Verdict};
//!
//! // A hundred words of balanced brackets, each with what a parser does on it.
//! let traces = Task::Dyck1.examples(Split::Train, 100, 0);
//! let params = Task::Dyck1.params(ReservoirKind::Cycle, 256, 0);
//! let machine = params.check()?.fit(&Task::Dyck1.alphabet(), &traces, &())?;
//!
//! let word = machine.alphabet().word("( ( ) ( ) )".split(' '))?;
//! assert_eq!(machine.judge(&word), Verdict::Accept);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod automaton;
pub mod certify;
pub mod control;
pub mod digest;
pub mod extract;
pub mod file;
mod index;
pub mod language;
pub mod machine;
pub mod manifest;
pub mod model;
mod name;
pub mod readout;
pub mod recognize;
pub mod reservoir;
mod simd;
pub mod study;
pub mod suffix;
pub mod symbol;
pub mod table;
pub mod tasks;
pub mod teach;
mod undo;

pub use automaton::{Automaton, AutomatonError, AutomatonJsonError, Oracle, Rule, Viability};
pub use certify::{Certificate, CertificateFileError, CertifyError, Proof, Prover, check};
pub use control::{Control, Deadline, Stage};
pub use extract::{ConstructError, ExtractError, Extraction, construct, extract};
pub use file::FileError;
pub use language::{Language, Walks, WordKind, all_words, draw, examples};
pub use machine::{ActionReadout, Checked, Choices, FitError, Machine, OutputReadout, ParamError, Params, Readout};
pub use manifest::Manifest;
pub use model::Model;
pub use name::UnknownName;
pub use readout::{Lesson, Lessons, Svm};
pub use recognize::{
    Event, Limit, Limits, Mode, Node, Observer, Outputs, Recognizer, Reduction, Run, Session, Stack, Status, Tree,
    TreeBuilder, Verdict, View, Visit, judge_all, judge_in_turn, outputs, watch_all,
};
pub use reservoir::{
    Activation, Cycle, Drive, Legendre, MatrixParts, MatrixReservoir, Random, Recurrent, Reservoir, ReservoirError,
    ReservoirParams, ReservoirParts, Signs, encode,
};
pub use simd::Simd;
pub use study::{ProofRound, Round, Study, StudyError, practise};
pub use symbol::{Alphabet, AlphabetError, Input, Lookahead, SymbolId, UnknownToken, Word};
pub use table::{Scanner, Table};
pub use teach::{
    Answer, Comparison, Context, ContextFile, Contradiction, Corpus, CorpusError, Depth, Exercise, Score, Step, Trace,
    TraceError, TraceFault, TraceFileError, TraceReader, compare, contradictions, output_error, read_contexts,
    read_traces, record, score, write_contexts, write_traces,
};

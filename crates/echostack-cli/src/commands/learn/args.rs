//! The options of `echostack learn`.

use std::path::PathBuf;

use anyhow::Result;
use echostack::machine::Checked;
use echostack::readout::Svm;
use echostack::recognize::{Mode, View};
use echostack::{Alphabet, Params, SymbolId};
use echostack_grammar::Encoding;

use crate::inference::Source;
use crate::options::{Kind, LookaheadView};
use crate::progress::TimeLimit;
use crate::subject::{self, encoding};

const EXAMPLES: &str = "\
Examples:
  Learn a grammar, proved correct on every word:
    echostack learn testdata/grammars/json -o json.safetensors
  Keep the certificate of the proof, for `echostack certify --check`:
    echostack learn task:dyck2 --certificate dyck2.certificate -o dyck2.safetensors
  Learn from what your own program did on 200 words (docs/traces.md):
    echostack learn --traces traces.jsonl --prove -o log.safetensors
  Infer a language from examples and a program, and prove a machine for it (docs/infer.md):
    echostack learn --examples examples --oracle 'xmllint --noout {}' --prove -o xml.safetensors
  Learn a Turing machine, proved on every input and for every number of steps (docs/two-stacks.md):
    echostack learn --turing testdata/turing/increment.tm -o increment.safetensors
  Learn as in the paper, without wrong words and without a proof:
    echostack learn task:dyck2 --tolerant -o paper.safetensors

Exit codes: 0 if the machine was learned; 1 if it was saved, but a required proof was not found or a test found
mistakes; 2 on an error.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES, mut_group("subject", |group| group.required(true)))]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    #[command(flatten, next_help_heading = "What to learn")]
    pub(super) subject: subject::Args,
    /// Traces in JSON Lines, as written by `echostack teach` or by your own program (docs/traces.md)
    #[arg(long, value_name = "FILE", group = "subject", help_heading = WHAT)]
    pub(super) traces: Option<PathBuf>,
    /// Contexts in JSON Lines, as counted by `echostack contexts` in a corpus of traces (docs/scale.md)
    #[arg(long, value_name = "FILE", group = "subject", help_heading = WHAT)]
    pub(super) contexts: Option<PathBuf>,
    /// Turing machine, or rules with two stacks, to teach a machine with two stacks (docs/two-stacks.md)
    #[arg(long, value_name = "FILE", group = "subject", help_heading = WHAT)]
    pub(super) turing: Option<PathBuf>,
    #[command(flatten)]
    pub(super) source: Source,
    /// Folder to write the inferred grammar, its lexer, the report and the answers to [default: the name of the machine's
    /// file, with the ending .inferred]
    #[arg(long, value_name = "FOLDER", requires = "examples", help_heading = WHAT)]
    pub(super) inferred: Option<PathBuf>,
    /// If contexts contradict each other, use the most frequent answer
    #[arg(long, requires = "contexts", help_heading = WHAT)]
    pub(super) majority: bool,
    /// Lexer in Lex syntax that splits texts into the terminals of the traces
    #[arg(long, value_name = "FILE", help_heading = WHAT)]
    #[arg(conflicts_with_all = ["language", "contexts"])]
    pub(super) lexer: Option<PathBuf>,
    /// How a grammar is translated into rules
    #[arg(long, value_parser = encoding(), default_value = "auto", help_heading = WHAT)]
    pub(super) encoding: Encoding,

    /// Kind of reservoir
    #[arg(long, value_enum, default_value = "cycle", help_heading = MACHINE)]
    pub(super) reservoir: Kind,
    /// Number of neurons
    #[arg(long, default_value_t = 256, help_heading = MACHINE)]
    pub(super) neurons: usize,
    /// What the machine sees of its input: the whole input through the reservoir, or only the next token [default:
    /// reservoir with --tolerant; whichever the contexts need for --contexts; else symbol]
    #[arg(long, value_enum, help_heading = MACHINE)]
    pub(super) lookahead: Option<LookaheadView>,
    /// Reject a word at the first token that cannot follow. This is the default, except for traces and contexts in
    /// which no token is refused
    #[arg(long, conflicts_with = "tolerant", help_heading = MACHINE)]
    pub(super) strict: bool,
    /// Accept or reject only at the end of a word, as in the paper. Such a machine sees its whole input, learns from
    /// valid words only, and is neither proved nor tested, unless other options say so
    #[arg(long, conflicts_with_all = ["prove", "certificate"], help_heading = MACHINE)]
    pub(super) tolerant: bool,

    /// Number of training words, in addition to those that cover a grammar. Words are used without a proof and with
    /// --lookahead reservoir; otherwise, machines are trained on single decisions
    #[arg(long, default_value_t = 100, help_heading = TRAINING)]
    pub(super) count: usize,
    /// Maximum length of the training words
    #[arg(long, default_value_t = 50, help_heading = TRAINING)]
    pub(super) max_length: usize,
    /// Fraction of training words that are wrong, from 0 to 1: half of them near misses, half random words [default: 0
    /// with --tolerant, else 0.5]
    #[arg(long, help_heading = TRAINING)]
    pub(super) negatives: Option<f64>,
    /// Maximum number of training rounds
    #[arg(long, default_value_t = 30, help_heading = TRAINING)]
    pub(super) rounds: usize,
    /// Cost C of the support vector machines [default: depends on what is learned and how]
    #[arg(long, help_heading = TRAINING)]
    pub(super) cost: Option<f64>,
    /// Kernel parameter gamma, as a multiple of 1 / (features * variance) [default: depends on what is learned and how]
    #[arg(long, help_heading = TRAINING)]
    pub(super) gamma: Option<f64>,
    /// Seed of the words and weights
    #[arg(long, default_value_t = 0, help_heading = TRAINING)]
    pub(super) seed: u64,

    /// Require a proof: exit with code 1 if there is none, without testing the machine. For traces, what is proved is
    /// that the machine follows its extracted rules on every word, and that these agree with every trace
    #[arg(long, conflicts_with_all = ["contexts", "tests", "no_prove"], help_heading = PROOF)]
    pub(super) prove: bool,
    /// Do not search for a proof: train on the mistakes of a test until the machine makes none
    #[arg(long, conflicts_with = "certificate", help_heading = PROOF)]
    pub(super) no_prove: bool,
    /// File to write the certificate of the proof to; implies --prove
    #[arg(long, value_name = "FILE", conflicts_with_all = ["contexts", "tests"], help_heading = PROOF)]
    pub(super) certificate: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Proof and tests")]
    pub(super) limit: TimeLimit,
    /// Number of fresh words to test the machine on if it is not proved; 0 for no test [default: 0 with --tolerant,
    /// else 10000]
    #[arg(long, help_heading = PROOF)]
    pub(super) tests: Option<usize>,
    /// Maximum length of the test words
    #[arg(long, default_value_t = 200, help_heading = PROOF)]
    pub(super) test_length: usize,

    /// File to save the machine to
    #[arg(long, short, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) output: PathBuf,
    /// Print a summary as JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(super) json: bool,
}

const WHAT: &str = "What to learn";
const MACHINE: &str = "Machine";
const TRAINING: &str = "Training";
const PROOF: &str = "Proof and tests";
const OUTPUT: &str = "Output";

impl Args {
    /// Returns whether a machine without a proof is a failure.
    pub(super) fn must_prove(&self) -> bool {
        self.prove || self.certificate.is_some()
    }

    /// Returns the mode of the machine, which depends on whether tokens are refused in the training data unless an
    /// option selects it.
    pub(super) fn mode(&self, refuses: bool) -> Mode {
        if !self.tolerant && (self.strict || refuses) { Mode::Strict } else { Mode::Tolerant }
    }
}

/// Returns the parameters, with the changes made by the options.
pub(super) fn params(args: &Args, defaults: Params, view: View, mode: Mode) -> Result<Checked> {
    let svm = Svm {
        cost: args.cost.unwrap_or(defaults.svm.cost),
        gamma: args.gamma.unwrap_or(defaults.svm.gamma),
        ..defaults.svm
    };
    Ok(Params { view: args.lookahead.map_or(view, View::from), mode, svm, ..defaults }.check()?)
}

/// Returns the names of symbols, separated by spaces.
pub(super) fn names(alphabet: &Alphabet, symbols: &[SymbolId]) -> String {
    symbols.iter().map(|&symbol| alphabet.name(symbol)).collect::<Vec<_>>().join(" ")
}

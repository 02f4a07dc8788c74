//! Options shared by commands: the language that a command works on, word lengths and encodings.

use std::ops::RangeInclusive;

use anyhow::{Context, Result, ensure};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use echostack::Control;
use echostack_grammar::{Encoding, Subject};

use crate::session::Session;

/// The language that a command works on.
#[derive(clap::Args)]
#[group(id = "subject", multiple = false)]
pub(crate) struct Args {
    /// Language: a grammar (a folder, or NAME.y), a built-in task (`task:NAME`; `echostack tasks` lists them), an
    /// automaton in JSON, or a table or machine that contains its grammar
    #[arg(value_name = "LANGUAGE")]
    language: Option<String>,
}

/// The maximum length of words that are drawn.
const LONGEST: usize = 1_000_000;

/// Returns the range of lengths that words are drawn from, if it is valid.
pub(crate) fn lengths(shortest: usize, longest: usize) -> Result<RangeInclusive<usize>> {
    ensure!(
        shortest <= longest && longest <= LONGEST,
        "the minimum length is {shortest} and the maximum is {longest}, but they must be in ascending order and at most {LONGEST}"
    );
    Ok(shortest..=longest)
}

/// Returns the parser for the encoding, that is, for how a grammar is translated into rules.
pub(crate) fn encoding() -> impl TypedValueParser<Value = Encoding> {
    let value = |encoding: Encoding| {
        PossibleValue::new(encoding.name()).help(match encoding {
            Encoding::Auto => "Suffixes of symbols if they suffice, else states",
            Encoding::Suffix => "The paper's suffixes of symbols",
            Encoding::State => "The states of the LR(1) table",
        })
    };
    PossibleValuesParser::new(Encoding::ALL.map(value)).try_map(|name| name.parse::<Encoding>())
}

impl Args {
    /// Opens the language, and prints what is suspicious about it.
    pub(crate) fn open(&self, session: &Session, encoding: Encoding, control: &dyn Control) -> Result<Subject> {
        let name = self.language.as_deref().context("give a grammar, task:NAME, or an automaton")?;
        let subject = session.open_subject(name, encoding, control)?;
        session.warn_of(&subject);
        Ok(subject)
    }
}

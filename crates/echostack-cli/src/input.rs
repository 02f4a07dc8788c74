//! Options of the commands that judge texts or words: how the input is read, and with which limits.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use echostack::Limits;
use echostack_grammar::Judge;

use crate::certificate;
use crate::session::Session;

/// How the input is read.
#[derive(clap::Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct Input {
    /// Read tokens separated by white space, one word per line, even if the model has a lexer
    #[arg(long)]
    pub(crate) tokens: bool,
    /// Read every character as a token, instead of tokens separated by white space; implies --tokens
    #[arg(long)]
    pub(crate) chars: bool,
    /// Maximum number of symbols on the stack; a word that needs more is stopped. A table uses one or two bytes per
    /// symbol, a machine more
    #[arg(long, value_name = "N", default_value_t = Limits::default().depth)]
    max_depth: usize,
    /// Maximum number of actions on one token, in addition to eight for each symbol on the stack; a word that needs more
    /// is stopped
    #[arg(long, value_name = "N", default_value_t = Limits::default().actions)]
    max_actions: u64,
    /// Certificate that the model must belong to; any other model, table or lexer is refused. `certify --check` verifies
    /// the certificate itself
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
}

impl Input {
    pub(crate) fn limits(&self) -> Limits {
        Limits { depth: self.max_depth, actions: self.max_actions, ..Limits::default() }
    }

    /// Opens the model, with its lexer if the input consists of texts.
    pub(crate) fn open(&self, session: &Session, model: &Path) -> Result<Judge> {
        let judge = session.open_judge(model, self.tokens || self.chars)?;
        if let Some(path) = &self.certificate {
            let belongs = judge.check_certificate(&certificate::read(path)?);
            belongs.with_context(|| format!("{} does not belong to {}", path.display(), model.display()))?;
        }
        Ok(judge)
    }
}

//! Learning a language that is inferred from examples and an oracle.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use echostack::Control;
use echostack::certify::Proof;
use echostack_grammar::Subject;
use echostack_infer::{Inferred, Proved, Settings};

use super::args::Args;
use super::learned::Assurance;
use crate::inference::tell;
use crate::session::Session;

/// Infers the language. Returns it with the folder that it was written to.
pub(super) fn infer(args: &Args, session: &Session, control: &dyn Control) -> Result<(Inferred, PathBuf)> {
    let folder = args.inferred.clone().unwrap_or_else(|| args.output.with_extension("inferred"));
    let settings = Settings { seed: args.seed, ..Settings::default() };
    let inferred = args.source.infer(session, settings, None, &folder, control)?;
    tell(&inferred, &folder, session.quiet || args.json);
    Ok((inferred, folder))
}

/// Returns the inferred language as the subject of training.
pub(super) fn subject(args: &Args, session: &Session, inferred: &Inferred, folder: &Path) -> Result<Subject> {
    inferred.language().context("the inferred language is empty")?;
    Ok(Subject::open_grammar_within(folder, args.encoding, &session.grammar_limits())?)
}

/// Writes the report again, with what is known about the machine.
pub(super) fn report(args: &Args, inferred: &Inferred, folder: &Path, assurance: &Assurance) -> Result<()> {
    let proved = match &assurance.proof {
        Some(Proof::Proved(_)) => Proved::Yes,
        Some(Proof::Open { .. }) => Proved::No,
        None => Proved::NotTried,
    };
    let saved = inferred.save(folder, args.source.name(), proved);
    saved.with_context(|| format!("could not write to {}", folder.display()))
}

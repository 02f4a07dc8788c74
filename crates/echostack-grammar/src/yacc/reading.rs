//! From the text of a grammar to its rules.

use super::parser;
use super::resolve::resolve;
use super::trim::trim;
use crate::rules::Rules;
use crate::text::error::{GrammarError, Warning};
use crate::text::source::Source;

/// Reads the rules of a grammar, without the parts that no word needs.
pub(crate) fn rules(source: Source<'_>) -> Result<(Rules, Vec<Warning>), GrammarError> {
    let (rules, mut warnings) = resolve(source, &parser::read(source)?)?;
    let (rules, useless) = trim(source, &rules)?;
    warnings.extend(useless);
    Ok((rules, warnings))
}

//! From the text of a grammar to its rules.

use crate::error::{GrammarError, Warning};
use crate::resolve::resolve;
use crate::rules::Rules;
use crate::source::Source;
use crate::trim::trim;
use crate::yacc;

/// Reads the rules of a grammar, without the parts that no word needs.
pub(crate) fn rules(source: Source<'_>) -> Result<(Rules, Vec<Warning>), GrammarError> {
    let (rules, mut warnings) = resolve(source, &yacc::read(source)?)?;
    let (rules, useless) = trim(source, &rules)?;
    warnings.extend(useless);
    Ok((rules, warnings))
}

//! Checks that an automaton follows the text of a grammar.

use echostack::certify::{CertifyError, Translation, check_translation};
use echostack::{Control, Oracle};

use super::canonical::Canonical;
use crate::text::source::Source;
use crate::yacc::reading::rules;

/// Checks that a strict automaton accepts the words of the grammar with this text, and no others. Returns the size of the
/// comparison.
///
/// The text is read again, its LR(1) parser is computed by its definition, and the two are compared by
/// [`check_translation`], so nothing that made the automaton has to be trusted.
///
/// # Errors
/// [`CertifyError::Translation`] if the automaton does not follow the grammar, or the grammar is too large to be
/// checked.
pub(crate) fn follows(text: &str, oracle: &Oracle, control: &dyn Control) -> Result<Translation, CertifyError> {
    let refused = |why: String| CertifyError::Translation(why);
    let (rules, _) = rules(Source { file: None, text }).map_err(|error| refused(error.to_string()))?;
    let alphabet = oracle.automaton().alphabet();
    let names = alphabet.terminals().chain(alphabet.nonterminals()).map(|symbol| alphabet.name(symbol));
    if !names.take(rules.names.len()).eq(rules.names.iter().map(String::as_str))
        || alphabet.terminals().len() != rules.terminals
    {
        return Err(refused("they have different symbols".into()));
    }
    let Some(parser) = Canonical::new(&rules, control) else {
        let too_large = "the LR(1) parser of the grammar is too large to compare with";
        return Err(if control.cancelled() { CertifyError::Cancelled } else { refused(too_large.into()) });
    };
    check_translation(&parser, oracle, control)
}

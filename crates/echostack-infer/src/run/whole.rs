//! Whole examples as tests: each is valid, so a hypothesis that rejects it is wrong, and asking costs nothing.

use std::collections::BTreeSet;

use super::inference::Inference;
use crate::ask::queries::Stop;
use crate::text::shrink::{shortest, smaller};

/// The number of rejected examples after which a round ends, because the hypothesis has changed too much.
const MOST_REJECTED: usize = 10;

impl Inference<'_> {
    /// Keeps the examples that are not used as they are.
    pub(crate) fn keep_whole(&mut self, texts: &[String], short: &[String]) {
        let short: BTreeSet<&String> = short.iter().collect();
        self.whole = texts.iter().filter(|text| !short.contains(text)).cloned().collect();
    }

    /// Learns from some whole examples.
    pub(crate) fn absorb_whole(&mut self) -> Result<(), Stop> {
        for text in shortest(&self.whole) {
            let Some(base) = self.teacher.symbols.base(&text) else { continue };
            let word = self.teacher.symbols.lex(&base);
            if self.teacher.valid(&self.teacher.symbols.render(&word))? {
                self.absorb(&word)?;
            } else {
                self.split_class(&base, &text)?;
            }
        }
        Ok(())
    }

    /// Compares whole examples with the hypothesis. Those that it rejects are made smaller, as long as it is wrong about
    /// them, and learned from. Returns the number of those that changed something. The others are not tried again: a run
    /// that rejects an example does not count as settled.
    pub(crate) fn test_whole(&mut self) -> Result<usize, Stop> {
        let Some(frozen) = self.frozen.clone() else { return Ok(0) };
        let (mut learned, mut rejected, mut hopeless) = (0, 0, BTreeSet::new());
        let mut whole = self.whole.clone();
        whole.sort_by_key(String::len);
        for example in whole {
            if rejected == MOST_REJECTED || self.retagged {
                break;
            }
            if frozen.accepts(&example) {
                continue;
            }
            rejected += 1;
            let text = smaller(&example, true, &|text| !frozen.accepts(text), &mut self.teacher)?;
            if self.learn_texts(&[text])? {
                self.note_change();
                learned += 1;
            } else {
                hopeless.insert(example);
            }
        }
        if rejected > 0 {
            self.log.push(format!("{rejected} whole examples were rejected, and {learned} of them were learned from"));
        }
        self.whole.retain(|example| !hopeless.contains(example));
        Ok(learned)
    }
}

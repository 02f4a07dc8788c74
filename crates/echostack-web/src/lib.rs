//! The module behind the page "Try it in the browser" (docs/try.md).
//!
//! The page's worker calls [`Model::compile`] or [`Model::learn`] with a grammar, and then [`Model::read`] with each text
//! that the reader types. Everything else is in the two modules, which know nothing of browsers and are tested natively. `tools/web.py`
//! builds the page.

mod learn;
mod read;

use echostack::Control;
use echostack::control::Stage;
use echostack::study::ProofRound;
use echostack_grammar::LearnEvent;
use serde_json::json;
use wasm_bindgen::prelude::*;

pub use learn::{PageError, PageModel, Summary, compile, learn};
pub use read::{Action, Reading, Step, Token, read};

#[wasm_bindgen]
extern "C" {
    /// Tells the page how far a stage is. The worker defines it.
    #[wasm_bindgen(js_namespace = page)]
    fn progress(stage: &str, done: usize, total: usize);
    /// Tells the page the result of a round of training, as JSON. The worker defines it.
    #[wasm_bindgen(js_namespace = page)]
    fn round(report: &str);
}

/// Reports to the page. To cancel a call, the page ends the worker.
struct Page;

impl Control for Page {
    fn progress(&self, stage: Stage, done: usize, total: usize) {
        progress(stage.name(), done, total);
    }
}

/// A table or a machine.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Model(PageModel);

#[wasm_bindgen]
impl Model {
    /// Compiles a grammar to a table. If the lexer is blank, each character is a token.
    ///
    /// # Errors
    /// If the grammar or the lexer cannot be used.
    pub fn compile(name: &str, grammar: &str, lexer: &str) -> Result<Self, JsError> {
        Ok(Self(compile(name, grammar, written(lexer), &Page)?))
    }

    /// Learns a grammar and searches for a proof. If the lexer is blank, each character is a token.
    ///
    /// # Errors
    /// If the grammar or the lexer cannot be used.
    pub fn learn(name: &str, grammar: &str, lexer: &str) -> Result<Self, JsError> {
        let mut report = |event: LearnEvent<'_>| {
            let LearnEvent::Searched(ProofRound { exercises, examined, open, .. }) = event else { return };
            round(&json!({"exercises": exercises, "examined": examined, "open": open}).to_string());
        };
        Ok(Self(learn(name, grammar, written(lexer), &Page, &mut report)?))
    }

    /// Returns what is known about the table or machine, as JSON.
    pub fn summary(&self) -> String {
        json!(self.0.summary()).to_string()
    }

    /// Returns the model file, as `echostack compile` or `echostack learn` saves it.
    pub fn file(&self) -> Vec<u8> {
        self.0.file().to_vec()
    }

    /// Returns the certificate of the proof, if there is one, as `echostack learn --certificate` writes it.
    pub fn certificate(&self) -> Option<String> {
        self.0.certificate().map(echostack::Certificate::to_json)
    }

    /// Reads a text and returns each step, as JSON.
    pub fn read(&self, text: &str) -> String {
        json!(read(self.0.judge(), text)).to_string()
    }
}

/// Returns the lexer, unless it is blank.
fn written(lexer: &str) -> Option<&str> {
    Some(lexer).filter(|lexer| !lexer.trim().is_empty())
}

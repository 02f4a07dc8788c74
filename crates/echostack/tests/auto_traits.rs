//! The traits that users rely on without naming them: recognizers and what they return can be shared between threads,
//! cloned and printed.
#![cfg(feature = "machine")]

use std::fmt::Debug;

use echostack::certify::CertifyError;
use echostack::machine::{Checked, FitError};
use echostack::{
    Alphabet, Automaton, Certificate, Limits, Machine, Manifest, Model, Oracle, Params, Recognizer, Scanner, Study,
    Table, Trace, Verdict, Word,
};

fn shared<T: Send + Sync + Debug>() {}
fn value<T: Clone + Send + Sync + Debug + Unpin + 'static>() {}
fn error<T: std::error::Error + Send + Sync + 'static>() {}
fn session<R: Recognizer>()
where
    R::Session: Clone + Send + Debug,
{
}

#[test]
fn types_have_the_traits_that_users_rely_on() {
    value::<Alphabet>();
    value::<Automaton>();
    value::<Certificate>();
    value::<Checked>();
    value::<Limits>();
    value::<Machine>();
    value::<Manifest>();
    value::<Model>();
    value::<Oracle>();
    value::<Params>();
    value::<Study>();
    value::<Table>();
    value::<Trace>();
    value::<Verdict>();
    value::<Word>();
    shared::<Scanner>();
    session::<Machine>();
    session::<Model>();
    session::<Oracle>();
    session::<Table>();
    error::<CertifyError>();
    error::<FitError>();
}

//! Reads tokens one at a time, as they arrive, and prints after each token what can follow.
//!
//!     echo '( ( ) ) )' | cargo run --release --example stream_tokens

use std::io::BufRead;

use echostack::recognize::{Mode, Status};
use echostack::reservoir::ReservoirKind;
use echostack::symbol::Input;
use echostack::tasks::Task;
use echostack::{Limits, Lookahead, Params, Recognizer, Session, Study};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let language = Task::Dyck1.language().ok_or("the task is not a language")?;
    let params = Params { mode: Mode::Strict, ..Params::standard(ReservoirKind::Cycle, 256, 0) }.check()?;
    let (machine, _) = Study { tests: 1000, ..Study::default() }.learn(&*language, &params, &(), &mut |_| ())?;
    let alphabet = machine.alphabet();
    let name = |next: &Lookahead| next.token().map_or("the end", |token| alphabet.name(token));

    for line in std::io::stdin().lock().lines() {
        // A session reads one word. It can be cloned, to try several continuations.
        let mut session = machine.start(Limits::default());
        for token in line?.split_whitespace() {
            let Some(symbol) = alphabet.symbol(token) else {
                return Err(format!("{token:?} is not a token of this language").into());
            };
            let status = session.feed(Input::Symbol(symbol), &mut ());
            let expected: Vec<&str> = session.expected().iter().map(name).collect();
            println!("{token}: {status:?}, expected {}", expected.join(" or "));
            if status != Status::Open {
                break;
            }
        }
        println!("{:?}", session.finish(&mut ()));
    }
    Ok(())
}

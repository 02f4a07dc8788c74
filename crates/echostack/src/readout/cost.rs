//! Training that is repeated at increasing cost until the result is good enough.

/// The factor by which the cost is multiplied when a round is stuck.
const RAISE: f64 = 10.;

/// The outcome of a round of training.
pub(crate) enum Outcome<T> {
    /// The round ended with a result to keep.
    Done(T),
    /// There is more to teach at the same cost.
    Open,
    /// There is nothing new to teach: only a higher cost can help.
    Stuck,
}

/// Repeats training until a round is done. Each round is called with its number, counted from 1, and the cost.
pub(crate) fn at_rising_cost<T, E>(
    mut cost: f64,
    mut round: impl FnMut(usize, f64) -> Result<Outcome<T>, E>,
) -> Result<T, E> {
    let mut number = 1;
    loop {
        match round(number, cost)? {
            Outcome::Done(result) => return Ok(result),
            Outcome::Open => {}
            Outcome::Stuck => cost *= RAISE,
        }
        number += 1;
    }
}

//! The reservoir models that the experiments compare.

mod common;
mod echo;
mod memory;
mod stack;

use echostack::reservoir::ReservoirKind;

use crate::estimator::Estimator;

/// Returns the paper's reservoir models: stack machines, echo state networks with 256 and with 1,024 neurons, and the
/// memory machine.
pub fn all() -> Vec<Box<dyn Estimator>> {
    let mut all: Vec<Box<dyn Estimator>> = Vec::new();
    for kind in ReservoirKind::ALL {
        all.push(Box::new(echo::EchoState::new(kind, 256)));
    }
    for kind in ReservoirKind::ALL {
        all.push(Box::new(stack::StackMachine::new(kind, stack::Readouts::Rbf)));
    }
    for kind in ReservoirKind::ALL {
        all.push(Box::new(echo::EchoState::new(kind, 1024)));
    }
    all.push(Box::new(memory::MemoryMachine));
    all
}

/// Returns stack machines with other readouts than the paper's: linear ones, and lists of rules.
pub fn with_other_readouts() -> Vec<Box<dyn Estimator>> {
    let kinds = || ReservoirKind::ALL.into_iter();
    let of =
        |readouts| kinds().map(move |kind| Box::new(stack::StackMachine::new(kind, readouts)) as Box<dyn Estimator>);
    of(stack::Readouts::Linear).chain(of(stack::Readouts::List)).collect()
}

//! Work without the interpreter's lock, on threads that are there after a fork as well.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The threads of a process; one that was forked from it has none of them, and gets its own.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

pub(crate) fn pool() -> Option<Arc<ThreadPool>> {
    let mut known = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((owner, pool)) = &*known
        && *owner == process
    {
        return Some(pool.clone());
    }
    let fresh = Arc::new(ThreadPoolBuilder::new().build().ok()?);
    // The threads of a process that was forked are gone; waiting for them would not end.
    if let Some(stale) = known.replace((process, fresh.clone())) {
        std::mem::forget(stale);
    }
    Some(fresh)
}

/// Lets the interpreter go, and works on the process's threads.
pub(crate) fn work<R: Send>(py: Python<'_>, f: impl FnOnce() -> R + Send) -> R {
    py.detach(|| match pool() {
        Some(pool) => pool.install(f),
        None => f(), // the system gives no threads
    })
}

//! Runs work without holding the interpreter's lock, on a thread pool that is also available after a fork.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The thread pool, and the process that it belongs to. A forked process does not inherit the threads, and gets its own
/// pool.
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
    // The threads of the old pool do not exist in a forked process. Dropping the pool would wait for them forever.
    if let Some(stale) = known.replace((process, fresh.clone())) {
        std::mem::forget(stale);
    }
    Some(fresh)
}

/// Releases the interpreter's lock, and runs `f` on the process's thread pool.
pub(crate) fn work<R: Send>(py: Python<'_>, f: impl FnOnce() -> R + Send) -> R {
    py.detach(|| match pool() {
        Some(pool) => pool.install(f),
        None => f(), // the system provides no threads
    })
}

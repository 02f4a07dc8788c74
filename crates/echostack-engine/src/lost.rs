//! Which errors mean that an executor of a cluster was lost.

use ballista_core::error::BallistaError;
use datafusion::common::DataFusionError;
use tonic::{Code, Status};

/// Whether an error means that an executor went away with what it had finished. The scheduler does not do that again: to it, the
/// query is done.
pub(crate) fn is_lost(error: &DataFusionError) -> bool {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        let ballista = error.downcast_ref::<BallistaError>().is_some_and(|error| {
            use BallistaError::{FetchFailed, GrpcConnectionError, TonicError};
            matches!(error, FetchFailed(..) | GrpcConnectionError(_) | TonicError(_))
        });
        let status = error.downcast_ref::<Status>();
        let status = status.or_else(|| error.downcast_ref::<Box<Status>>().map(Box::as_ref));
        if ballista || status.is_some_and(is_broken) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Whether a call ended because the other side went away.
fn is_broken(status: &Status) -> bool {
    matches!(status.code(), Code::Unknown | Code::Unavailable | Code::Cancelled | Code::Aborted | Code::Internal)
}

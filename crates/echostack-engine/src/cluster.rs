//! Clusters: Apache Ballista with our functions on its scheduler and on every executor.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ballista::prelude::{SessionConfigExt, SessionContextExt};
use ballista_core::utils::default_session_builder;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use datafusion::common::{DataFusionError, Result, exec_err};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::codegen::http::{Request, StatusCode, Uri};
use tonic::transport::Endpoint;

use crate::carry::{LogicalCarrier, PhysicalCarrier};
use crate::stores::{runtime, with_stores};

/// The path at which a scheduler says whether it has an executor.
const READY: &str = "/readyz";

/// A scheduler, which accepts queries and distributes their tasks to the executors.
#[derive(Clone, Debug)]
pub struct Scheduler {
    /// The address to listen on.
    pub bind: SocketAddr,
    /// The number of seconds without a heartbeat after which an executor is considered dead. Its tasks are then run by
    /// other executors.
    pub timeout: u64,
}

impl Scheduler {
    /// Runs until the process ends.
    ///
    /// # Errors
    /// If it cannot listen on the address.
    pub async fn run(&self) -> Result<()> {
        let session = |config| {
            let state = SessionStateBuilder::new_from_existing(default_session_builder(config)?);
            Ok(state.with_runtime_env(runtime(None)?).build())
        };
        let config = SchedulerConfig {
            bind_host: self.bind.ip().to_string(),
            bind_port: self.bind.port(),
            external_host: self.bind.ip().to_string(),
            executor_timeout_seconds: self.timeout,
            expire_dead_executor_interval_seconds: (self.timeout / 2).max(1),
            no_executors_grace_period_seconds: self.timeout.max(30),
            override_session_builder: Some(Arc::new(session)),
            override_logical_codec: Some(Arc::new(LogicalCarrier::default())),
            override_physical_codec: Some(Arc::new(PhysicalCarrier::default())),
            ..SchedulerConfig::default()
        };
        let cluster = BallistaCluster::new_from_config(&config).await.map_err(external)?;
        start_server(cluster, self.bind, Arc::new(config)).await.map_err(external)
    }
}

/// An executor, which runs tasks of queries.
#[derive(Clone, Debug)]
pub struct Executor {
    /// The host name or IP address of the scheduler, and its port.
    pub scheduler: (String, u16),
    /// The address to listen on. Others fetch results from its port; the scheduler uses `control_port` at the same
    /// address.
    pub bind: SocketAddr,
    /// The port on which to listen for the scheduler.
    pub control_port: u16,
    /// The number of tasks to run at the same time.
    pub slots: usize,
    /// The number of seconds between two heartbeats.
    pub heartbeat: u64,
    /// The folder for intermediate results; a temporary one if `None`.
    pub folder: Option<PathBuf>,
}

impl Executor {
    /// Runs until the process ends.
    ///
    /// # Errors
    /// If it cannot listen on its address, or cannot reach the scheduler.
    pub async fn run(&self) -> Result<()> {
        // Data that does not fit into memory is spilled to the same folder.
        let folder = self.folder.clone();
        let config = ExecutorProcessConfig {
            bind_host: self.bind.ip().to_string(),
            external_host: Some(self.bind.ip().to_string()),
            port: self.bind.port(),
            grpc_port: self.control_port,
            scheduler_host: self.scheduler.0.clone(),
            scheduler_port: self.scheduler.1,
            scheduler_connect_timeout_seconds: 30,
            vcores: self.slots,
            executor_heartbeat_interval_seconds: self.heartbeat,
            work_dir: self.folder.as_ref().map(|folder| folder.to_string_lossy().into_owned()),
            override_runtime_producer: Some(Arc::new(move |_| {
                match &folder {
                    Some(folder) => with_stores().with_temp_file_path(folder),
                    None => with_stores(),
                }
                .build_arc()
            })),
            override_logical_codec: Some(Arc::new(LogicalCarrier::default())),
            override_physical_codec: Some(Arc::new(PhysicalCarrier::default())),
            ..ExecutorProcessConfig::default()
        };
        start_executor_process(Arc::new(config)).await.map_err(external)
    }
}

/// How long a client waits for an executor before it reports that there is none.
const PATIENCE: Duration = Duration::from_secs(5);

/// Creates a session whose queries run on the cluster of a scheduler, each in `partitions` partitions.
///
/// # Errors
/// If no scheduler can be reached at the address, or it has no executor.
pub async fn connect(scheduler: &str, partitions: usize) -> Result<SessionContext> {
    match wait_for_executors(scheduler).await {
        Err(error) => return exec_err!("there is no scheduler on {scheduler}: {}", root_cause(&error)),
        Ok(false) => {
            return exec_err!(
                "the scheduler on {scheduler} has no executor, so queries would wait forever; start one with \
                 `echostack cluster executor --scheduler {scheduler}`"
            );
        }
        Ok(true) => {}
    }
    let config = SessionConfig::new_with_ballista()
        .with_target_partitions(partitions)
        .with_ballista_logical_extension_codec(Arc::new(LogicalCarrier::default()))
        .with_ballista_physical_extension_codec(Arc::new(PhysicalCarrier::default()));
    let state = SessionStateBuilder::new().with_config(config).with_default_features();
    let state = state.with_runtime_env(runtime(None)?).build();
    SessionContext::remote_with_state(&format!("df://{scheduler}"), state).await
}

/// Asks a scheduler until it has an executor, or until the client's patience ends. Returns true if it has one.
async fn wait_for_executors(scheduler: &str) -> Result<bool, tonic::transport::Error> {
    let endpoint = Endpoint::from_shared(format!("http://{scheduler}"))?.connect_timeout(PATIENCE).timeout(PATIENCE);
    let mut channel = endpoint.connect().await?;
    let start = Instant::now();
    loop {
        let mut question = Request::new(Body::empty());
        *question.uri_mut() = Uri::from_static(READY);
        poll_fn(|context| channel.poll_ready(context)).await?;
        let is_ready = channel.call(question).await?.status() == StatusCode::OK;
        if is_ready || start.elapsed() > PATIENCE {
            return Ok(is_ready);
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Returns the innermost cause of an error, which says most about a failed connection.
fn root_cause(mut error: &dyn std::error::Error) -> String {
    while let Some(cause) = error.source() {
        error = cause;
    }
    error.to_string()
}

fn external(error: impl std::error::Error + Send + Sync + 'static) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

//! Clusters: Apache Ballista with our functions on its scheduler and on every executor.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_flight::flight_service_server::FlightServiceServer;
use ballista::prelude::{SessionConfigExt, SessionContextExt};
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::BallistaError;
use ballista_core::serde::protobuf::scheduler_grpc_server::SchedulerGrpcServer;
use ballista_core::utils::{GrpcServerConfig, create_grpc_server, default_session_builder};
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_executor::flight_service::BallistaFlightService;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::create_scheduler;
use datafusion::common::{DataFusionError, Result, exec_err};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use echostack::file::FileLimits;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::codegen::http::{Request, StatusCode, Uri};
use tonic::service::Routes;
use tonic::transport::Server;

use crate::access::Access;
use crate::codec::{Demands, LogicalCarrier, PhysicalCarrier};
use crate::guard::{GuardedEngine, GuardedResults};
use crate::stores::{runtime, with_stores};
use crate::tls::{Tls, endpoint};

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
    /// The folders and stores that queries may read: the scheduler lists the files, and reads the models.
    pub access: Access,
    /// What the files of models may contain.
    pub limits: FileLimits,
    /// The certificates that are shown and required; without them, anyone may connect.
    pub certificates: Option<Tls>,
}

impl Scheduler {
    /// Runs until the process ends.
    ///
    /// # Errors
    /// If it cannot listen on the address.
    pub async fn run(&self) -> Result<()> {
        let access = Arc::new(self.access.clone());
        let demands = Demands { access: Some(access.clone()), limits: self.limits };
        let guarded = access;
        let session = move |config| {
            let state = SessionStateBuilder::new_from_existing(default_session_builder(config)?);
            Ok(state.with_runtime_env(with_stores(Some(guarded.clone())).build_arc()?).build())
        };
        let config = SchedulerConfig {
            bind_host: self.bind.ip().to_string(),
            bind_port: self.bind.port(),
            external_host: self.bind.ip().to_string(),
            // Executors ask for work, so that nobody has to connect to them except for results.
            scheduling_policy: TaskSchedulingPolicy::PullStaged,
            executor_timeout_seconds: self.timeout,
            expire_dead_executor_interval_seconds: (self.timeout / 2).max(1),
            no_executors_grace_period_seconds: self.timeout,
            override_session_builder: Some(Arc::new(session)),
            override_logical_codec: Some(Arc::new(LogicalCarrier::new(demands.clone()))),
            override_physical_codec: Some(Arc::new(PhysicalCarrier::new(demands))),
            ..SchedulerConfig::default()
        };
        config.validate().map_err(external)?;
        let cluster = BallistaCluster::new_from_config(&config).await.map_err(external)?;
        let limits = (config.grpc_server_max_encoding_message_size, config.grpc_server_max_decoding_message_size);
        let scheduler = create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, Arc::new(config)).await;
        let scheduler = scheduler.map_err(external)?;
        let service = SchedulerGrpcServer::new(scheduler.clone())
            .max_encoding_message_size(limits.0 as usize)
            .max_decoding_message_size(limits.1 as usize);
        let ready = move || {
            let status = if scheduler.is_ready() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
            std::future::ready(status)
        };
        let routes = Routes::new(service).into_axum_router().route(READY, axum::routing::get(ready));
        let mut server = server(self.certificates.as_ref(), &GrpcServerConfig::default())?.accept_http1(true);
        server.add_routes(routes.into()).serve(self.bind).await.map_err(external)
    }
}

/// An executor, which runs tasks of queries.
#[derive(Clone, Debug)]
pub struct Executor {
    /// The host name or IP address of the scheduler, and its port.
    pub scheduler: (String, u16),
    /// The address to listen on. Others fetch results from here.
    pub bind: SocketAddr,
    /// The number of tasks to run at the same time.
    pub slots: usize,
    /// The folder for intermediate results; a temporary one if `None`.
    pub folder: Option<PathBuf>,
    /// The folders and stores that queries may read and write.
    pub access: Access,
    /// What the files of models may contain.
    pub limits: FileLimits,
    /// The certificates that are shown and required; without them, anyone may connect.
    pub certificates: Option<Tls>,
    /// True if the executor may run as root.
    pub as_root: bool,
}

impl Executor {
    /// Runs until the process ends.
    ///
    /// # Errors
    /// If it cannot listen on its address, or cannot reach the scheduler, or runs as root without being allowed to.
    pub async fn run(&self) -> Result<()> {
        if is_root() && !self.as_root {
            return exec_err!(
                "this process runs as root, but an executor runs queries of others; run it as another user, or allow it \
                 with --allow-root"
            );
        }
        // Only the owner can read a temporary folder.
        let temporary = tempfile::tempdir()?;
        let folder = self.folder.clone().unwrap_or_else(|| temporary.path().to_path_buf());
        let access = Arc::new(self.access.clone());
        let (spilled, guarded) = (folder.clone(), access.clone());
        let demands = Demands { access: Some(access.clone()), limits: self.limits };
        let (certificates, of_results) = (self.certificates.clone(), self.certificates.clone());
        let config = ExecutorProcessConfig {
            bind_host: self.bind.ip().to_string(),
            external_host: Some(self.bind.ip().to_string()),
            port: self.bind.port(),
            task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
            scheduler_host: self.scheduler.0.clone(),
            scheduler_port: self.scheduler.1,
            scheduler_connect_timeout_seconds: 30,
            vcores: self.slots,
            work_dir: Some(folder.to_string_lossy().into_owned()),
            // Data that does not fit into memory is spilled to the same folder.
            override_runtime_producer: Some(Arc::new(move |_| {
                with_stores(Some(guarded.clone())).with_temp_file_path(&spilled).build_arc()
            })),
            override_logical_codec: Some(Arc::new(LogicalCarrier::new(demands.clone()))),
            override_physical_codec: Some(Arc::new(PhysicalCarrier::new(demands))),
            override_execution_engine: Some(Arc::new(GuardedEngine::new(access))),
            override_create_grpc_client_endpoint: self.certificates.as_ref().map(Tls::encrypt),
            override_config_producer: Some(Arc::new(move || session_config(certificates.as_ref()))),
            override_arrow_flight_service: Some(Arc::new(move |folder, bind, mut shutdown, config| {
                let results = FlightServiceServer::new(GuardedResults(BallistaFlightService::new(folder)));
                let server = server(of_results.as_ref(), &config);
                tokio::spawn(async move {
                    let mut server = server.map_err(|error| BallistaError::General(error.to_string()))?;
                    Ok(server.add_service(results).serve_with_shutdown(bind, shutdown.recv()).await?)
                })
            })),
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
pub async fn connect(scheduler: &str, partitions: usize, certificates: Option<&Tls>) -> Result<SessionContext> {
    match wait_for_executors(scheduler, certificates).await {
        Err(error) => {
            let cause = root_cause(&error);
            let hint =
                if certificates.is_none() { "; if the cluster has certificates, use --certificates" } else { "" };
            return exec_err!("there is no scheduler on {scheduler} that can be used: {cause}{hint}");
        }
        Ok(false) => {
            return exec_err!(
                "the scheduler on {scheduler} has no executor, so queries would wait forever; start one with \
                 `echostack cluster executor --scheduler {scheduler}`"
            );
        }
        Ok(true) => {}
    }
    let config = session_config(certificates)
        .with_target_partitions(partitions)
        .with_ballista_logical_extension_codec(Arc::new(LogicalCarrier::default()))
        .with_ballista_physical_extension_codec(Arc::new(PhysicalCarrier::default()));
    let state = SessionStateBuilder::new().with_config(config).with_default_features();
    let state = state.with_runtime_env(runtime(None)?).build();
    SessionContext::remote_with_state(&format!("df://{scheduler}"), state).await
}

/// Asks a scheduler until it has an executor, or until the client's patience ends. Returns true if it has one.
async fn wait_for_executors(scheduler: &str, certificates: Option<&Tls>) -> Result<bool, tonic::transport::Error> {
    let endpoint = endpoint(certificates, scheduler)?.connect_timeout(PATIENCE).timeout(PATIENCE);
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

/// Returns a configuration whose connections are encrypted if there are certificates.
fn session_config(certificates: Option<&Tls>) -> SessionConfig {
    let config = SessionConfig::new_with_ballista();
    match certificates {
        Some(certificates) => config
            .with_ballista_use_tls(true)
            .with_ballista_override_create_grpc_client_endpoint(certificates.encrypt()),
        None => config,
    }
}

/// Returns a server that requires certificates if there are any.
fn server(certificates: Option<&Tls>, config: &GrpcServerConfig) -> Result<Server> {
    let server = create_grpc_server(config);
    match certificates {
        Some(certificates) => server.tls_config(certificates.server()).map_err(external),
        None => Ok(server),
    }
}

#[cfg(unix)]
fn is_root() -> bool {
    nix::unistd::Uid::effective().is_root()
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
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

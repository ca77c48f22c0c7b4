//! A service from its start to its stop.

use crate::auth::Oidc;
use crate::config::Config;
use crate::error::Error;
use crate::http::{self, listen};
use crate::id::{Scope, Token};
use crate::jobs::app::App;
use crate::store::Store;
use crate::tls::Tls;
use crate::worker::local;
use axum::Router;
use solinas_engine::{DeviceName, check_device};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The tenant of the first token.
const FIRST_TENANT: &str = "local";
/// How long a stop waits for a job to pause.
const PATIENCE: Duration = Duration::from_secs(20);
/// Time between two removals of what has expired.
const SWEEP: Duration = Duration::from_secs(600);

/// A running service.
pub struct Service {
    app: Arc<App>,
    address: SocketAddr,
    work_address: Option<SocketAddr>,
    first_token: Option<Token>,
    http: JoinHandle<()>,
    worker: JoinHandle<()>,
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Service {
    /// Opens the store, continues the jobs in it, and listens. A store without tenants gets one, and a token with all scopes, unless an issuer or
    /// certificates identify the clients.
    ///
    /// # Errors
    /// [`Error::Listen`]; [`Error::Certificate`]; [`Error::ClientAuthority`]; [`Error::Authorities`]; [`Error::InUse`]; [`Error::OtherStore`];
    /// [`Error::Setting`] for another database than that of the store; from the folder, the database and the device.
    pub fn start(mut config: Config) -> Result<Self, Error> {
        config.device = Some(check_device(config.device).map_err(|error| Error::Device(Box::new(error)))?);
        let system = |error: std::io::Error| Error::System(format!("a thread cannot be started: {error}"));
        let client_ca = config.mutual_tls.as_ref().map(|settings| settings.client_ca.clone());
        let tls = config.tls.clone().map(|files| Tls::new(files, client_ca)).transpose()?.map(Arc::new);
        let oidc = config.oidc.clone().map(Oidc::new).transpose()?;
        raise_file_limit();
        let (listener, address) = bind(config.address)?;
        let (work_listener, work_address) = config.work_address.map(bind).transpose()?.unzip();
        // The token of a new store is shown once, so nothing after it may fail for an ordinary cause.
        let store = Store::serve(&config.store, config.database.as_ref())?;
        let has_other_ways = config.oidc.is_some() || config.mutual_tls.is_some();
        let first_token = match has_other_ways || store.has_tenants()? {
            true => None,
            false => {
                Some(store.create_token(FIRST_TENANT, &[Scope::Read, Scope::Jobs, Scope::Keys, Scope::Admin], None)?)
            }
        };
        let app = Arc::new(App::new(config, store, oidc));
        app.store.prolong(app.hold())?;
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(system)?;
        let http = {
            let app = Arc::clone(&app);
            let serve = move || {
                runtime.block_on(async {
                    tokio::spawn(sweep(Arc::clone(&app), tls.clone()));
                    let work = work_listener.map(|listener| serve(&app, listener, &tls, http::work_router));
                    let work = async {
                        if let Some(work) = work {
                            work.await;
                        }
                    };
                    tokio::join!(serve(&app, listener, &tls, http::router), work);
                });
                runtime.shutdown_timeout(Duration::from_secs(1));
            };
            std::thread::Builder::new().name("solinas-http".into()).spawn(serve).map_err(system)?
        };
        let worker = {
            let app = Arc::clone(&app);
            let work = move || local::work(&app);
            std::thread::Builder::new().name("solinas-work".into()).spawn(work).map_err(system)?
        };
        Ok(Self { app, address, work_address, first_token, http, worker })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it listens for workers on other machines.
    pub fn work_address(&self) -> Option<SocketAddr> {
        self.work_address
    }

    /// Threads that compute.
    pub fn threads(&self) -> usize {
        self.app.threads()
    }

    /// The device that computes.
    pub fn device(&self) -> DeviceName {
        self.app.config.device.clone().unwrap_or_default()
    }

    /// The token of a new store. No later start knows it.
    pub fn first_token(&self) -> Option<&Token> {
        self.first_token.as_ref()
    }

    /// Takes no more requests, answers those that are here, and writes the progress of the running job to the store. A job that has not paused after 20
    /// seconds continues from its last checkpoint at the next start, or from its beginning if its scheme has none.
    pub fn stop(self) {
        self.app.stop();
        let end = Instant::now() + PATIENCE;
        while !self.worker.is_finished() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.app.interrupt_all();
        // A thread that panicked has said so.
        let _ = self.worker.join();
        let _ = self.http.join();
    }
}

/// Listens on an address.
fn bind(wanted: SocketAddr) -> Result<(TcpListener, SocketAddr), Error> {
    let unheard = |source| Error::Listen { address: wanted, source };
    let listener = TcpListener::bind(wanted).map_err(unheard)?;
    listener.set_nonblocking(true).map_err(unheard)?;
    let address = listener.local_addr().map_err(unheard)?;
    Ok((listener, address))
}

/// Serves the connections of a listener until the service stops.
async fn serve(app: &Arc<App>, listener: TcpListener, tls: &Option<Arc<Tls>>, router: fn(Arc<App>) -> Router) {
    match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listen::listen(Arc::clone(app), listener, tls.clone(), router(Arc::clone(app))).await,
        Err(error) => tracing::error!(%error, "the service does not listen"),
    }
}

/// Allows as many open files as the system lets this process have. Each connection is one.
fn raise_file_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let hard = getrlimit(Resource::Nofile).maximum;
        // Without it, fewer connections fit.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: hard, maximum: hard });
    }
}

/// Removes what has expired, and reads the certificate again, from time to time.
async fn sweep(app: Arc<App>, tls: Option<Arc<Tls>>) {
    loop {
        match app.blocking(|app| Ok(app.store.sweep(&app.config.limits)?)).await {
            Ok(0) | Err(_) => {}
            Ok(removed) => tracing::info!(removed, "removed what had expired"),
        }
        tokio::select! {
            () = tokio::time::sleep(SWEEP) => {}
            () = app.stopped() => return,
        }
        if let Some(tls) = &tls {
            tls.reload();
        }
    }
}

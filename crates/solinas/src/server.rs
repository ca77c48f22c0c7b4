//! The server: computes expressions with the public key.

use crate::recorded::{Node, Recorded, ciphertext};
use crate::{Bits, Control, Encrypted, EncryptedArray, Error, Estimate, Expression, Result, ServerKey, engine};
use engine::{PrepareOptions, Work};
use std::fmt;
use std::sync::{Arc, OnceLock};

pub use engine::{DeviceName, GpuInfo, GpuList, ServerOptions, gpus};

/// Work on a thread of its own: see [`Prepared::start`].
pub type Job<T> = engine::Job<T, Error>;

/// A server: an evaluation key in memory, and threads. It holds no secret. Clones share the threads.
#[derive(Debug, Clone)]
pub struct Server(engine::Server);

impl Server {
    /// Loads a key into memory, and starts as many threads as the machine has cores.
    ///
    /// # Errors
    /// There is too little memory, or the threads cannot be started.
    pub fn new(key: &ServerKey) -> Result<Self> {
        Self::with_options(key, &ServerOptions::default())
    }

    /// As [`Self::new`], with limits on threads and memory.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_options(key: &ServerKey, options: &ServerOptions) -> Result<Self> {
        Ok(Self(engine::Server::with_options(&key.0, options)?))
    }

    /// Computes values, arrays, or a tuple or list of them.
    ///
    /// The whole argument is one program. Independent operations run in parallel, so pass everything that can run together in one call. Each value of the
    /// argument keeps its result: a later expression that contains the value does not compute it again.
    ///
    /// # Errors
    /// Values belong to another key, arrays of lengths that do not fit meet in one operation, the scheme lacks an operation, or there are more products in a
    /// row than the key allows.
    pub fn run<X: Expression>(&self, expression: X) -> Result<X::Output> {
        self.prepare(expression)?.run()
    }

    /// Plans a computation. The plan predicts its cost, and runs it in the background.
    ///
    /// # Errors
    /// The errors of [`Self::run`] that are known before the computation starts.
    pub fn prepare<X: Expression>(&self, expression: X) -> Result<Prepared<X>> {
        let mut roots = Vec::new();
        expression.roots(&mut roots);
        for result in roots.iter().filter_map(|root| ciphertext(root)) {
            if result.key_id() != self.0.key_id() {
                let (got, want) = (result.key_id().short(), self.0.key_id().short());
                return Err(engine::Error::KeyMismatch { what: "a value".into(), got, want }.into());
            }
        }
        let recorded = Recorded::waiting(&roots)?;
        let server = self.clone();
        Ok(Prepared { server, expression, roots, recorded, planned: OnceLock::new(), private_program: false })
    }

    /// Makes an encrypted random value from a public seed (TFHE): all its bits are uniform, and nobody knows them without the client key. The same seed,
    /// type and key give the same value, so take each seed once.
    ///
    /// ```
    /// let (client, server_key) = solinas::generate_keys()?;
    /// let server = solinas::Server::new(&server_key)?;
    /// let die = (server.random::<u16>("throw 1 of table 7")? % 6).cast::<u8>() + 1;
    /// let thrown = client.decrypt(server.run(die)?)?;
    /// assert!((1..=6).contains(&thrown));
    /// # Ok::<(), solinas::Error>(())
    /// ```
    ///
    /// # Errors
    /// The key is of another scheme, or the seed is empty.
    pub fn random<T: Bits>(&self, seed: impl AsRef<[u8]>) -> Result<Encrypted<T>> {
        Encrypted::from_ciphertext(self.0.random(T::ty(), None, seed.as_ref(), &Control::default())?)
    }

    /// As [`Self::random`], `len` values, which are independent. A shorter array of the same seed is the beginning of a longer one.
    ///
    /// # Errors
    /// As [`Self::random`]; there is too little memory.
    pub fn random_array<T: Bits>(&self, len: usize, seed: impl AsRef<[u8]>) -> Result<EncryptedArray<T>> {
        self.random_array_with(len, seed, &Control::default())
    }

    /// As [`Self::random_array`], with progress and cancellation.
    ///
    /// # Errors
    /// As [`Self::random_array`]; [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    pub fn random_array_with<T: Bits>(
        &self,
        len: usize,
        seed: impl AsRef<[u8]>,
        control: &Control<'_>,
    ) -> Result<EncryptedArray<T>> {
        EncryptedArray::from_ciphertext(self.0.random(T::ty(), Some(vec![len]), seed.as_ref(), control)?)
    }

    /// The parameter set of the key.
    #[must_use]
    pub fn params(&self) -> engine::ParamsInfo {
        self.0.params()
    }

    /// The number of threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.0.threads()
    }

    /// The device that computes. `auto` has become the processor, or a GPU that computes what it is expected to end first.
    #[must_use]
    pub fn device(&self) -> &DeviceName {
        self.0.device()
    }

    /// The error of the GPU after which a server on `auto` computed on the processor. Results are those without the error.
    #[must_use]
    pub fn device_failure(&self) -> Option<&str> {
        self.0.device_failure()
    }
}

/// A computation that is planned and has not run.
#[must_use = "`run` or `start` it"]
pub struct Prepared<X> {
    server: Server,
    expression: X,
    roots: Vec<Arc<Node>>,
    /// The program that computes the roots. None if all of them have results.
    recorded: Option<Recorded>,
    planned: OnceLock<engine::Prepared>,
    private_program: bool,
}

impl<X: Expression> Prepared<X> {
    /// Hides the program from the holder of the client key (TFHE): the results show their values, types and lengths, and nothing else about the
    /// operations and constants that made them. Each block of a result takes some more bootstraps, which [`Self::count`] includes. The
    /// expression does not keep these results.
    ///
    /// ```
    /// let (client, server_key) = solinas::generate_keys()?;
    /// let server = solinas::Server::new(&server_key)?;
    /// let income = client.encrypt(1375_u16)?;
    /// let granted = server.prepare(income.gt(1000))?.private_program().run()?;
    /// assert!(client.decrypt(granted)?);
    /// # Ok::<(), solinas::Error>(())
    /// ```
    pub fn private_program(self) -> Self {
        Self { private_program: true, planned: OnceLock::new(), ..self }
    }

    /// Counts bootstraps, products, rotations and depth, without seconds. Except under TFHE, a value that an earlier step of the
    /// computation gives counts as a fresh ciphertext.
    ///
    /// # Errors
    /// As [`Server::run`].
    pub fn count(&self) -> Result<Estimate> {
        self.count_with(&Control::default())
    }

    /// As [`Self::count`], with cancellation.
    ///
    /// # Errors
    /// As [`Server::run`]; [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    pub fn count_with(&self, control: &Control<'_>) -> Result<Estimate> {
        self.cost(control, engine::Prepared::count)
    }

    /// As [`Self::count`], with seconds. The first call for a key measures one operation of each kind.
    ///
    /// # Errors
    /// As [`Server::run`].
    pub fn estimate(&self) -> Result<Estimate> {
        self.estimate_with(&Control::default())
    }

    /// As [`Self::estimate`], with cancellation.
    ///
    /// # Errors
    /// As [`Server::run`]; [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    pub fn estimate_with(&self, control: &Control<'_>) -> Result<Estimate> {
        self.cost(control, |planned| planned.estimate(control))
    }

    /// Computes the expression.
    ///
    /// # Errors
    /// As [`Server::run`].
    pub fn run(self) -> Result<X::Output> {
        self.run_with(&Control::default())
    }

    /// As [`Self::run`], with progress and cancellation.
    ///
    /// # Errors
    /// As [`Server::run`]; [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    pub fn run_with(self, control: &Control<'_>) -> Result<X::Output> {
        if let Some(planned) = self.planned(control)? {
            let results = planned.run(control)?;
            if self.private_program {
                return self.expression.computed(&mut results.into_iter());
            }
            let outputs = self.recorded.iter().flat_map(|recorded| &recorded.outputs);
            outputs.zip(results).for_each(|(node, result)| node.keep(result.into()));
        }
        let results = self.roots.iter().map(|root| ciphertext(root).cloned().ok_or_else(Error::not_computed));
        self.expression.computed(&mut results.collect::<Result<Vec<_>>>()?.into_iter())
    }

    /// The planned work; `None` if there is nothing to compute.
    fn planned(&self, control: &Control<'_>) -> Result<Option<&engine::Prepared>> {
        if let planned @ Some(_) = self.planned.get() {
            return Ok(planned);
        }
        let all = if self.private_program { Some(Recorded::new(self.roots.clone())?) } else { None };
        let Some(recorded) = all.as_ref().or(self.recorded.as_ref()) else { return Ok(None) };
        let work = Work::program(&recorded.program, &recorded.inputs);
        let options = PrepareOptions { private_program: self.private_program, ..PrepareOptions::default() };
        let planned = self.server.0.prepare_with(work, options, control)?;
        Ok(Some(self.planned.get_or_init(|| planned)))
    }

    fn cost(
        &self,
        control: &Control<'_>,
        of: impl Fn(&engine::Prepared) -> Result<Estimate, engine::Error>,
    ) -> Result<Estimate> {
        let planned = self.planned(control)?;
        planned.map_or_else(|| Ok(self.server.0.no_cost()), |planned| Ok(of(planned)?))
    }

    /// Starts the computation on a thread of its own.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(self) -> Result<Job<X::Output>>
    where
        X: Send + 'static,
        X::Output: Send + 'static,
    {
        Job::start(move |control| self.run_with(control))
    }
}

impl<X> fmt::Debug for Prepared<X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("server", &self.server).finish_non_exhaustive()
    }
}

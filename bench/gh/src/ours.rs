//! The rows of one parameter set.

use bench_common::sample::{Contestant, Effort, Figure, Times, Work, contest};
use bench_common::{Gmp, machine, must};
use rayon::ThreadPool;
use solinas_schemes::gh::{
    Arithmetic, Ciphertext, ClientKey, Decryptor, EncryptMethod, Encryptor, Evaluator, Params, RecryptMethod,
    ServerKey, noise,
};
use solinas_schemes::{Control, Entropy};

use crate::Error;
use crate::gmp;
use crate::report::Row;

/// Work whose result is compared by its bit, or by its words.
struct Checked<F, C, T> {
    run: F,
    check: C,
    last: Option<T>,
}

impl<F: FnMut() -> T, C: Fn(&T) -> Vec<u64>, T> Work for Checked<F, C, T> {
    fn run(&mut self) {
        self.last = Some((self.run)());
    }

    fn result(&self) -> Option<Vec<u64>> {
        self.last.as_ref().map(&self.check)
    }
}

fn contestant<'a, T: 'a>(
    name: String,
    run: impl FnMut() -> T + 'a,
    check: impl Fn(&T) -> Vec<u64> + 'a,
) -> Contestant<'a> {
    Contestant::new(name, Checked { run, check, last: None })
}

/// A parameter set, its keys and its thread pools.
pub struct Bench {
    params: Params,
    client: ClientKey,
    server: ServerKey,
    inputs: [Ciphertext; 2],
    keygen: Vec<Row>,
    pools: Vec<(usize, ThreadPool)>,
    memory: u64,
    effort: Effort,
    gmp: Option<Gmp>,
}

const GMP: &str = "GMP";

impl Bench {
    /// Makes keys once for each number of threads, and times this.
    ///
    /// # Errors
    /// From the scheme; [`bench_common::Error::Threads`].
    pub fn new(set: &str, threads: &[usize], memory: u64, effort: Effort, gmp: Option<Gmp>) -> Result<Self, Error> {
        let params = Params::named(set)?;
        let pool = |&threads: &usize| Ok::<_, Error>((threads, machine::free_pool(threads)?));
        let pools = threads.iter().map(pool).collect::<Result<Vec<_>, _>>()?;
        let (mut keys, mut keygen) = (None, Vec::new());
        // The largest sets only once, with all threads.
        let once = params.dimension() > 1 << 14;
        for (threads, pool) in pools.iter().skip(if once { pools.len() - 1 } else { 0 }) {
            let mut times = Times::default();
            let generate = || {
                let client = ClientKey::generate(&params, true, Entropy::Insecure(1), &Control::default())?;
                let server = client.server_key(&Control::default())?;
                Ok::<_, Error>((client, server))
            };
            times.sample(1, || keys = Some(pool.install(generate)));
            keygen.push(Row::new(set, "KeyGen", "", *threads, &times.figure(""), None));
        }
        let Some((client, server)) = keys.transpose()? else {
            return Err(bench_common::Error::Threads { threads: 0, problem: "no number is given".into() }.into());
        };
        let encryptor = Encryptor::new(server.public(), EncryptMethod::PartialFft, u64::MAX, Arithmetic::default())?;
        let mut rng = server.public().encryption_rng(1)?;
        let inputs = [encryptor.encrypt(true, &mut rng)?, encryptor.encrypt(true, &mut rng)?];
        Ok(Self { params, client, server, inputs, keygen, pools, memory, effort, gmp })
    }

    /// The rows of the set.
    ///
    /// # Errors
    /// From the scheme; [`bench_common::Error::Wrong`] when results differ.
    pub fn rows(&self) -> Result<Vec<Row>, Error> {
        let decryptor = self.client.decryptor()?;
        let mut rows = self.keygen.clone();
        rows.extend(self.encrypt(&decryptor)?);
        rows.extend(self.decrypt(&decryptor)?);
        rows.extend(self.recrypt(&decryptor)?);
        rows.extend(self.product()?);
        Ok(rows)
    }

    fn id(&self, operation: &str, method: &str) -> String {
        format!("{operation}/{}/{method}", self.params.name())
    }

    /// A contestant for each number of threads.
    fn threaded<'a, T: Send + 'a>(
        &'a self,
        mut run: impl FnMut() -> T + Send + Clone + 'a,
        check: impl Fn(&T) -> Vec<u64> + Clone + 'a,
    ) -> Vec<Contestant<'a>> {
        let each = self.pools.iter().map(|(threads, pool)| {
            let mut run = run.clone();
            contestant(threads.to_string(), move || pool.install(&mut run), check.clone())
        });
        let all = each.collect();
        // The first run fills caches of plans.
        run();
        all
    }

    /// Rows of ours by the number of threads, with GMP's CPU time if it is a column.
    fn finish(&self, operation: &str, method: &str, figures: &[Figure], gmp: &mut Option<f64>) -> Vec<Row> {
        if let Some(figure) = figures.iter().find(|figure| figure.name == GMP) {
            *gmp = Some(figure.cpu.median / 1e3);
        }
        let ours = figures.iter().filter_map(|figure| Some((figure.name.parse().ok()?, figure)));
        ours.map(|(threads, figure)| Row::new(self.params.name(), operation, method, threads, figure, *gmp)).collect()
    }

    fn encrypt(&self, decryptor: &Decryptor<'_>) -> Result<Vec<Row>, Error> {
        let public = self.server.public();
        let bit = |ciphertext: &Ciphertext| vec![u64::from(must(decryptor.decrypt(ciphertext)))];
        let mut gmp = None;
        let mut rows = Vec::new();
        // The peer's method is the first, so that the other rows have its figure.
        for method in EncryptMethod::ALL.into_iter().rev() {
            let encryptor = match Encryptor::new(public, method, self.memory, Arithmetic::default()) {
                Err(error @ solinas_schemes::Error::Memory { .. }) => {
                    println!("{error}");
                    continue;
                }
                encryptor => encryptor?,
            };
            let mut nonce = 100_u64;
            let encryptor = &encryptor;
            let run = move || {
                nonce += 1;
                must(encryptor.encrypt(true, &mut must(public.encryption_rng(nonce))))
            };
            let mut contestants = self.threaded(run, bit);
            if let Some(peer) = self.gmp.filter(|_| method == EncryptMethod::PartialFft) {
                let mut windows = gmp::Windows::new(peer, public);
                let ciphertext = |words: &Vec<u64>| {
                    bit(&must(Ciphertext::from_parts(public, words.clone(), noise::fresh(&self.params))))
                };
                contestants.push(contestant(GMP.into(), move || windows.encrypt(true).to_vec(), ciphertext));
            }
            let figures = contest(&self.id("encrypt", method.name()), contestants, self.effort)?;
            rows.extend(self.finish("Encrypt", method.name(), &figures, &mut gmp));
        }
        rows.reverse();
        rows.sort_by_key(|row| row.threads);
        Ok(rows)
    }

    fn decrypt(&self, decryptor: &Decryptor<'_>) -> Result<Vec<Row>, Error> {
        let input = &self.inputs[0];
        let bit = |bit: &bool| vec![u64::from(*bit)];
        let mut contestants = vec![
            contestant("linear".into(), || must(decryptor.decrypt(input)), bit),
            contestant("exact".into(), || must(decryptor.decrypt_exact(input)), bit),
        ];
        if let Some(peer) = self.gmp {
            let mut product = gmp::Product::new(peer, self.server.public().d().words());
            let w = gmp::padded(self.client.w().words(), product.len());
            contestants.push(contestant(GMP.into(), move || product.is_odd(input.words(), &w), bit));
        }
        let figures = contest(&self.id("decrypt", "linear, exact"), contestants, self.effort)?;
        let gmp = figures.iter().find(|figure| figure.name == GMP).map(|figure| figure.cpu.median / 1e3);
        let row = |figure: &Figure| {
            let method = match figure.name.as_str() {
                "linear" => "linear time",
                "exact" => "modular product",
                _ => return None,
            };
            Some(Row::new(self.params.name(), "Decrypt", method, 1, figure, gmp))
        };
        Ok(figures.iter().filter_map(row).collect())
    }

    fn recrypt(&self, decryptor: &Decryptor<'_>) -> Result<Vec<Row>, Error> {
        let bit = |ciphertext: &Ciphertext| vec![u64::from(must(decryptor.decrypt(ciphertext)))];
        let mut rows = Vec::new();
        for method in RecryptMethod::ALL {
            let pool = &self.pools[self.pools.len() - 1].1;
            let build = || Evaluator::new(&self.server, method, self.memory, Arithmetic::default());
            let evaluator = match pool.install(build) {
                Err(error @ solinas_schemes::Error::Memory { .. }) => {
                    println!("{error}");
                    continue;
                }
                evaluator => evaluator?,
            };
            let contestants = self.threaded(|| must(evaluator.recrypt(&self.inputs[0])), bit);
            let figures = contest(&self.id("recrypt", method.name()), contestants, self.effort)?;
            rows.extend(self.finish("Recrypt", method.name(), &figures, &mut None));
        }
        rows.sort_by_key(|row| row.threads);
        Ok(rows)
    }

    /// The product modulo d, which is the product of two ciphertexts.
    fn product(&self) -> Result<Vec<Row>, Error> {
        let evaluator = Evaluator::new(&self.server, RecryptMethod::PartialFft, u64::MAX, Arithmetic::default())?;
        let [x, y] = &self.inputs;
        let words = |ciphertext: &Ciphertext| ciphertext.words().to_vec();
        let mut contestants = self.threaded(|| must(evaluator.multiply(x, y)), words);
        if let Some(peer) = self.gmp {
            let mut product = gmp::Product::new(peer, self.server.public().d().words());
            let run = move || product.multiply(x.words(), y.words()).to_vec();
            contestants.push(contestant(GMP.into(), run, Vec::clone));
        }
        let figures = contest(&self.id("product", "mod d"), contestants, self.effort)?;
        Ok(self.finish("product modulo d", "", &figures, &mut None))
    }
}

//! Measurement of one figure.

use super::{Figure, Keys, What, memory, seconds};
use crate::timing::{Seconds, right};
use crate::{Control, Error, Options};
use rand_core::RngCore;
use rayon::ThreadPool;
use solinas_bigint::fft::{self, Plan};
use solinas_bigint::{Modulus, ModulusOptions, Natural};
use solinas_schemes::gh::{Arithmetic, Ciphertext, EncryptMethod, Encryptor, Evaluator, RecryptMethod, noise};
use std::time::Duration;

/// Largest number of runs for a figure.
const REPETITIONS: usize = 501;

/// Runs on one number of threads, in ascending order: seconds, and the data that the work returned.
type Runs<D> = Vec<(f64, D)>;

fn of_runs<D>(runs: &Runs<D>) -> Seconds {
    Seconds::of(runs.iter().map(|(seconds, _)| *seconds).collect())
}

/// Context of the measurements at one parameter set.
pub(super) struct Task<'a> {
    keys: &'a Keys,
    pools: Vec<(usize, ThreadPool)>,
    budget: Duration,
    control: &'a Control<'a>,
}

impl<'a> Task<'a> {
    pub(super) fn new(
        keys: &'a Keys,
        threads: &[usize],
        options: &Options,
        control: &'a Control<'a>,
    ) -> Result<Self, Error> {
        let pool = |&threads: &usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.map(|pool| (threads, pool)).map_err(|error| Error::Threads { threads, problem: error.to_string() })
        };
        let pools = threads.iter().map(pool).collect::<Result<_, _>>()?;
        let budget = Duration::from_millis(if options.quick { 100 } else { 1500 });
        Ok(Self { keys, pools, budget, control })
    }

    pub(super) fn measure(&self, what: What) -> Result<Figure, Error> {
        match what {
            What::Encrypt(method) => self.encrypt(method),
            What::Decrypt => self.decrypt(false),
            What::DecryptExact => self.decrypt(true),
            What::Recrypt(method) => self.recrypt(method),
            What::Product => self.product(),
            What::Reduction => self.reduction(),
            What::Window(window) => self.window(window),
        }
    }

    /// Runs the work for each number of threads until the budget is spent. Returns the runs and the last result. The first run counts only if it is the only
    /// one.
    fn repeat<D, T>(
        &self,
        mut work: impl FnMut(usize) -> Result<(D, T), Error> + Send,
    ) -> Result<(Vec<Runs<D>>, T), Error>
    where
        D: Send,
        T: Send,
    {
        let (mut all, mut last) = (Vec::new(), None);
        for (threads, pool) in &self.pools {
            let mut runs = Vec::new();
            let mut spent = Duration::ZERO;
            loop {
                self.control.check().map_err(solinas_engine::Error::from)?;
                let (seconds, result) = pool.install(|| seconds(|| work(*threads)));
                let (detail, result) = result?;
                last = Some(result);
                runs.push((seconds, detail));
                spent += Duration::from_secs_f64(seconds);
                if spent >= self.budget || runs.len() > REPETITIONS {
                    break;
                }
            }
            if runs.len() > 1 {
                runs.remove(0);
            }
            runs.sort_by(|a, b| a.0.total_cmp(&b.0));
            all.push(runs);
        }
        last.map(|last| (all, last))
            .ok_or_else(|| Error::Threads { threads: 0, problem: "the number must be at least 1".into() })
    }

    /// The times for each number of threads, and the last result.
    fn seconds<T: Send>(
        &self,
        mut work: impl FnMut(usize) -> Result<T, Error> + Send,
    ) -> Result<(Vec<Seconds>, T), Error> {
        let (runs, last) = self.repeat(|threads| Ok(((), work(threads)?)))?;
        Ok((runs.iter().map(of_runs).collect(), last))
    }

    /// Fails unless the ciphertext decrypts to the bit.
    fn decrypts(&self, what: &str, ciphertext: &Ciphertext, bit: bool) -> Result<(), Error> {
        let got = self.keys.client.decryptor()?.decrypt(ciphertext)?;
        if got == bit {
            return Ok(());
        }
        Err(Error::WrongResult { what: what.into(), got: got.to_string(), want: bit.to_string() })
    }

    /// The pool of all threads.
    fn pool(&self) -> Result<&ThreadPool, Error> {
        let none = || Error::Threads { threads: 0, problem: "the number must be at least 1".into() };
        self.pools.last().map(|(_, pool)| pool).ok_or_else(none)
    }

    fn encrypt(&self, method: EncryptMethod) -> Result<Figure, Error> {
        let public = self.keys.server.public();
        let build = || Encryptor::new(public, method, memory::limit(), Arithmetic::default());
        let (encryptor, bytes) = self.pool()?.install(|| memory::grown(method.memory(public.params()), build))?;
        let mut rng = public.encryption_rng(2)?;
        let (seconds, ciphertext) = self.seconds(|_| Ok(encryptor.encrypt(true, &mut rng)?))?;
        self.decrypts(method.name(), &ciphertext, true)?;
        Ok(Figure { seconds, bytes, ..Figure::default() })
    }

    fn decrypt(&self, exact: bool) -> Result<Figure, Error> {
        let decryptor = self.keys.client.decryptor()?;
        let input = &self.keys.inputs[1];
        let (seconds, bit) =
            self.seconds(|_| Ok(if exact { decryptor.decrypt_exact(input) } else { decryptor.decrypt(input) }?))?;
        right(|| "decryption".into(), bit)?;
        Ok(Figure { seconds, ..Figure::default() })
    }

    fn recrypt(&self, method: RecryptMethod) -> Result<Figure, Error> {
        let server = &self.keys.server;
        let build = || Evaluator::new(server, method, memory::limit(), Arithmetic::default());
        let (evaluator, tables) = self.pool()?.install(|| memory::grown(method.memory(server.params()), build))?;
        let (runs, ciphertext) = self.repeat(|_| {
            let (ciphertext, times) = evaluator.recrypt_timed(&self.keys.inputs[1])?;
            Ok(([times.expand, times.blocks, times.sum].map(|time| time.as_secs_f64()), ciphertext))
        })?;
        self.decrypts(method.name(), &ciphertext, true)?;
        let (seconds, parts) = runs.iter().map(|runs| (of_runs(runs), runs[runs.len() / 2].1)).unzip();
        let public = server.public();
        let key =
            8 * (server.x().len() + server.indicators().len() + public.d().words().len() + public.r().words().len());
        Ok(Figure { seconds, parts, bytes: tables.map(|tables| tables + key as f64), products: None })
    }

    fn product(&self) -> Result<Figure, Error> {
        let (a, b) = (self.keys.server.public().d().words(), self.keys.inputs[1].words());
        let plans = self.pools.iter().map(|(threads, _)| {
            let options = fft::Options { threads: *threads, ..fft::Options::default() };
            Plan::for_product(a.len(), b.len(), &options).map(|plan| (*threads, plan))
        });
        let plans = plans.collect::<Result<Vec<_>, _>>()?;
        let mut out = vec![0; plans.iter().map(|(_, plan)| plan.out_words()).max().unwrap_or(0)];
        let (seconds, ()) = self.seconds(|threads| {
            let Some((_, plan)) = plans.iter().find(|plan| plan.0 == threads) else { return Ok(()) };
            Ok(plan.mul(&mut out[..plan.out_words()], a, b)?)
        })?;
        Ok(Figure { seconds, ..Figure::default() })
    }

    fn reduction(&self) -> Result<Figure, Error> {
        let d = self.keys.server.public().d();
        let product = d * &Natural::from_words(self.keys.inputs[1].words().to_vec());
        let x = &product + &Natural::one();
        let moduli = self.pools.iter().map(|(threads, _)| {
            let fft = fft::Options { threads: *threads, ..fft::Options::default() };
            Modulus::with_options(d, &ModulusOptions { method: None, fft }).map(|modulus| (*threads, modulus))
        });
        let moduli = moduli.collect::<Result<Vec<_>, _>>()?;
        let (seconds, rest) = self.seconds(|threads| {
            let Some((_, modulus)) = moduli.iter().find(|modulus| modulus.0 == threads) else { return Ok(x.clone()) };
            Ok(modulus.reduce(&x)?)
        })?;
        right(|| "reduction".into(), rest == Natural::one())?;
        Ok(Figure { seconds, ..Figure::default() })
    }

    /// Encryption by Horner's rule over windows, with stored powers `r^0` to `r^(w-1)`. Each window except the highest needs a modular product.
    fn window(&self, window: usize) -> Result<Figure, Error> {
        let public = self.keys.server.public();
        let params = public.params();
        let (n, bit) = (params.dimension(), true);
        let alone = fft::Options { threads: 1, ..fft::Options::default() };
        let modulus = Modulus::with_options(public.d(), &ModulusOptions { method: None, fft: alone })?;
        let build = || {
            let mut powers = vec![Natural::one()];
            while powers.len() < window {
                powers.push(modulus.mul(&powers[powers.len() - 1], public.r())?);
            }
            let step = modulus.mul(&powers[window - 1], public.r())?;
            Ok::<_, Error>((powers, modulus.prepare(&step)?))
        };
        let ((powers, step), bytes) = memory::grown(8 * (public.words() * (window + 4)) as u64, build)?;
        let mut rng = public.encryption_rng(3)?;
        let terms = noise_polynomial(n, params.nonzeros(), params.max_nonzeros(), &mut rng);
        let encrypt = || {
            let (mut value, mut products) = (Natural::ZERO, 0);
            for high in (0..n / window).rev() {
                if high + 1 < n / window {
                    value = modulus.mul_prepared(&value, &step)?;
                    products += 1;
                }
                for &(index, negative) in terms.iter().filter(|term| term.0 / window == high) {
                    let power = &powers[index % window];
                    value = if negative { modulus.sub(&value, power)? } else { modulus.add(&value, power)? };
                }
            }
            let twice = modulus.add(&value, &value)?;
            Ok((modulus.add(&twice, &Natural::from(u64::from(bit)))?, products))
        };
        let (seconds, (value, products)) = self.seconds(|_| encrypt())?;
        let mut words = value.into_words();
        words.resize(public.words(), 0);
        let ciphertext = Ciphertext::from_parts(public, words, noise::fresh(params))?;
        self.decrypts("encryption by windows", &ciphertext, bit)?;
        Ok(Figure { seconds, bytes, products: Some(products), parts: Vec::new() })
    }
}

/// Indices and signs of the coefficients of a sparse polynomial. It has `nonzeros` coefficients on average, and at most `most`.
fn noise_polynomial(n: usize, nonzeros: usize, most: usize, rng: &mut impl RngCore) -> Vec<(usize, bool)> {
    let threshold = ((nonzeros as u128) << 64) / n as u128;
    let mut terms = Vec::new();
    for index in 0..n {
        if u128::from(rng.next_u64()) < threshold && terms.len() < most {
            terms.push((index, rng.next_u64() & 1 == 1));
        }
    }
    terms
}

//! Our operations.

use std::time::Instant;

use solinas_schemes::bgv::{
    Ciphertext, ClientKey, Evaluator, KeySwitching, Params, ParamsLiteral, Rotations, ServerKey,
};
use solinas_schemes::{Control, Entropy, Evaluate, RotateSlots};

use crate::Error;

/// Keys and operands.
pub struct Ours {
    params: Params,
    client: ClientKey,
    server: ServerKey,
    plaintext: Vec<u64>,
    inputs: [Ciphertext; 2],
    product: Ciphertext,
}

/// An operation that is timed.
pub struct Operation<'a> {
    /// The row.
    pub name: &'static str,
    /// Its name in the peers.
    pub peer: Option<&'static str>,
    run: Box<dyn Fn() -> Result<(), solinas_schemes::Error> + Send + Sync + 'a>,
}

impl Operation<'_> {
    /// Milliseconds of one run, the mean of `repeat` in sequence.
    ///
    /// # Errors
    /// From the scheme.
    pub fn time(&self, repeat: u32) -> Result<f64, Error> {
        let start = Instant::now();
        (0..repeat).try_for_each(|_| (self.run)())?;
        Ok(start.elapsed().as_secs_f64() * 1e3 / f64::from(repeat))
    }
}

impl Ours {
    /// Makes keys and checks a product.
    ///
    /// # Errors
    /// From the scheme; [`bench_common::Error::Decryption`].
    pub fn new(dimension: usize, towers: usize, bits: u32, group: usize) -> Result<Self, Error> {
        let params = Params::try_from(ParamsLiteral {
            name: format!("bench-{dimension}-{towers}"),
            dimension,
            plaintext_modulus: 65537,
            depth: towers - 1,
            switching: KeySwitching::Hybrid { group },
            first_bits: Some(bits),
            bits: Some(bits),
            top_bits: Some(bits),
            terms: 2,
            failure_bits: 40,
            bootstrapping: None,
        })?;
        let client = ClientKey::generate(&params, true, Entropy::Insecure(1), &Control::default())?;
        let server = client.server_key_with(&Rotations::of_steps(&params, &[1])?, &Control::default())?;
        let encoder = params.slots()?;
        let slots: Vec<u64> = (0..dimension as u64).map(|i| i * i % 211).collect();
        let plaintext = encoder.encode(&slots)?;
        let mut rng = server.public().encryption_rng(1)?;
        let inputs = [server.public().encrypt(&plaintext, &mut rng)?, server.public().encrypt(&plaintext, &mut rng)?];
        let evaluator = Evaluator::new(&server);
        let composed = evaluator.multiply(&inputs[0], &inputs[1])?;
        let squares: Vec<u64> = slots.iter().map(|&x| x * x % 65537).collect();
        if encoder.decode(&client.decrypt(&composed)?)? != squares {
            return Err(bench_common::Error::Decryption { name: "ours".into() }.into());
        }
        let product = evaluator.relinearize(&evaluator.tensor(&inputs[0], &inputs[1])?)?;
        Ok(Self { params, client, server, plaintext, inputs, product })
    }

    /// The parameters in one line.
    pub fn describe(&self) -> String {
        let (towers, special) = (self.params.moduli().len(), self.params.special().len());
        let bits = self.params.log2_modulus(self.params.highest_level());
        format!(
            "N = {}, {towers} towers of {bits:.0} bits together, {special} special primes, p = 65537",
            self.params.dimension()
        )
    }

    /// Plaintext modulus.
    pub fn plaintext_modulus(&self) -> u64 {
        self.params.plaintext_modulus()
    }

    /// The operations that are timed.
    pub fn operations(&self) -> Vec<Operation<'_>> {
        let evaluator = Evaluator::new(&self.server);
        let [x, y] = &self.inputs;
        let operation = |name, peer, run| Operation { name, peer, run };
        vec![
            operation(
                "encrypt",
                Some("encrypt"),
                Box::new(move || {
                    let mut rng = self.server.public().encryption_rng(2)?;
                    self.server.public().encrypt(&self.plaintext, &mut rng).map(drop)
                }),
            ),
            operation(
                "encrypt with the secret key",
                None,
                Box::new(move || {
                    let mut rng = self.server.public().encryption_rng(2)?;
                    self.client.encrypt_seeded(&self.plaintext, &mut rng).map(drop)
                }),
            ),
            operation("decrypt", Some("decrypt"), Box::new(move || self.client.decrypt(x).map(drop))),
            operation("add", Some("add"), Box::new(move || evaluator.add(x, y).map(drop))),
            operation(
                "multiply + relinearize",
                Some("multiply"),
                Box::new(move || evaluator.relinearize(&evaluator.tensor(x, y)?).map(drop)),
            ),
            operation(
                "multiply + relinearize + ModReduce",
                Some("composed"),
                Box::new(move || evaluator.multiply(x, y).map(drop)),
            ),
            operation("ModReduce", None, Box::new(move || evaluator.modulus_switch(&self.product).map(drop))),
            operation("rotate", Some("rotate"), Box::new(move || evaluator.rotate(x, 1).map(drop))),
            operation(
                "multiply by a plaintext",
                None,
                Box::new(move || evaluator.multiply_plain(x, &self.plaintext).map(drop)),
            ),
        ]
    }
}

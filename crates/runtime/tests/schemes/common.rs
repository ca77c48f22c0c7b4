//! Keys of small sets, and what holds under more than one scheme.

use crate::random_circuit;
use solinas_circuits::{BinaryOp, Builder};
use solinas_runtime::{
    Ciphertext, ClientKey, Control, Error, KeygenOptions, Plain, Program, Scheme, Server, ServerKey, Type, keygen,
};

pub(crate) struct Setup {
    pub(crate) client: ClientKey,
    pub(crate) key: ServerKey,
    pub(crate) server: Server,
}

pub(crate) fn options(scheme: Scheme, params: &str, seed: u64) -> KeygenOptions {
    let (params, insecure_seed) = (Some(params.into()), Some(seed));
    KeygenOptions { scheme, params, research: true, insecure_seed, ..Default::default() }
}

impl Setup {
    pub(crate) fn new(scheme: Scheme, params: &str, seed: u64) -> Self {
        let (client, key) = keygen(&options(scheme, params, seed), &Control::default()).unwrap();
        let server = Server::new(&key, Some(2)).unwrap();
        Self { client, key, server }
    }

    pub(crate) fn scalar(&self, ty: Type, value: u128) -> Ciphertext {
        self.client.encrypt(&Plain::unsigned(ty, value).unwrap()).unwrap()
    }

    pub(crate) fn vector(&self, ty: Type, values: &[u128]) -> Ciphertext {
        self.client.encrypt(&Plain::new(ty, Some(vec![values.len()]), values.to_vec()).unwrap()).unwrap()
    }

    /// The first output, decrypted.
    pub(crate) fn run(&self, program: &Program, inputs: &[Ciphertext]) -> Result<Vec<u128>, Error> {
        let out = self.server.run(program, inputs, &Control::default())?;
        Ok(self.client.decrypt(&out[0])?.values)
    }
}

/// Runs `count` random circuits of up to `most` gates, of which at least `least` are not too deep for the key's levels.
pub(crate) fn check_random_circuits(Setup { client, server, key }: &Setup, count: u64, most: usize, least: u64) {
    let mut run = 0;
    for seed in 0..count {
        let mut rng = random_circuit::rng(seed);
        let netlist = random_circuit::circuit(&mut rng, most);
        match random_circuit::agrees(client, server, &netlist, seed % 2 == 1, &mut rng) {
            Ok(agrees) => {
                assert!(agrees, "seed {seed}");
                run += 1;
            }
            Err(Error::Levels { need, left, .. }) => {
                assert!(need > 0 && Some(left) == key.params().depth, "{need} {left}");
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!(run >= least, "{run}");
}

/// Every gate on every input.
pub(crate) fn check_gates(setup: &Setup) {
    let mut b = Builder::verbatim();
    let [x, y, z] = ["x", "y", "z"].map(|name| b.input(name, 1, false)[0]);
    let mut outputs: Vec<_> = BinaryOp::ALL.iter().map(|&op| b.binary(op, x, y)).collect();
    outputs.extend([b.not(x), b.constant(true), b.constant(false), b.mux(x, y, z), b.xor3(x, y, z), b.maj(x, y, z)]);
    b.output("out", &outputs, false);
    let netlist = b.finish().unwrap();
    let lane = |bit: usize| (0..8).map(|i| i >> bit & 1).collect::<Vec<u128>>();
    let inputs = [0, 1, 2].map(|bit| setup.vector(Type::Bool, &lane(bit)));
    let out = setup.server.run_circuit_as_is(&netlist, &inputs, &Control::default()).unwrap();
    let want: Vec<u128> = (0..8u128).map(|i| netlist.evaluate(&[i & 1, i >> 1 & 1, i >> 2]).unwrap()[0]).collect();
    assert_eq!(setup.client.decrypt(&out[0]).unwrap().values, want);
}

/// Results go on as inputs, at their levels, until none is left; what is said then.
pub(crate) fn check_levels_used_up(setup: &Setup) -> String {
    let u4 = Type::Uint(4);
    let mul = Program::from_op("mul", &[u4, u4]).unwrap();
    let y = setup.scalar(u4, 7);
    let (mut product, mut want, mut runs) = (y.clone(), 7, 0);
    let error = loop {
        match setup.server.run(&mul, &[product.clone(), y.clone()], &Control::default()) {
            Ok(mut out) => product = out.swap_remove(0),
            Err(error) => break error,
        }
        want = (want * 7) & 15;
        runs += 1;
        assert_eq!(setup.client.decrypt(&product).unwrap().values, [want]);
    };
    let levels = setup.key.params().depth.unwrap();
    assert!((2..=levels).contains(&runs), "{runs}");
    assert!(matches!(error, Error::Levels { depth, .. } if depth == levels), "{error}");
    assert!(matches!(setup.server.estimate_inputs(&mul, &[product, y]), Err(Error::Levels { .. })), "when planned");
    let message = error.to_string();
    assert!(message.contains("encrypt its inputs again"), "{message}");
    message
}

/// Key generation is refused, in words with that among them.
pub(crate) fn check_refused(options: KeygenOptions, word: &str) {
    let message = keygen(&options, &Control::default()).unwrap_err().to_string();
    assert!(message.contains(word), "{message}");
}

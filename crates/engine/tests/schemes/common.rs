//! Keys of small sets, and what holds under more than one scheme.

use super::random_circuit;
use solinas_circuits::build::{Recipe, Style};
use solinas_circuits::{BinaryOp, Builder};
use solinas_engine::{
    Ciphertext, ClientKey, Control, Error, KeygenOptions, Natural, Plain, Program, Server, ServerKey, Type, Work,
    keygen,
};
use std::sync::atomic::AtomicBool;

pub(crate) struct Setup {
    pub(crate) client: ClientKey,
    pub(crate) key: ServerKey,
    pub(crate) server: Server,
}

pub(crate) fn options(scheme: &str, params: &str, seed: u64) -> KeygenOptions {
    let (scheme, params, insecure_seed) = (scheme.parse().unwrap(), Some(params.into()), Some(seed));
    KeygenOptions { scheme, params, research: true, insecure_seed, ..Default::default() }
}

impl Setup {
    pub(crate) fn new(scheme: &str, params: &str, seed: u64) -> Self {
        let (client, key) = keygen(&options(scheme, params, seed), &Control::default()).unwrap();
        let server = Server::new(&key, Some(2)).unwrap();
        Self { client, key, server }
    }

    pub(crate) fn scalar(&self, ty: Type, value: u128) -> Ciphertext {
        self.client.encrypt(&Plain::scalar(ty, value).unwrap()).unwrap()
    }

    pub(crate) fn vector(&self, ty: Type, values: &[u128]) -> Ciphertext {
        self.client.encrypt(&Plain::new(ty, Some(vec![values.len()]), values.to_vec()).unwrap()).unwrap()
    }

    /// The first output, decrypted.
    pub(crate) fn run(&self, program: &Program, inputs: &[Ciphertext]) -> Result<Vec<Natural>, Error> {
        let out = self.server.run(Work::program(program, inputs), &Control::default())?;
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
    let out = setup.server.run(Work::program(&crate::gates(&netlist), &inputs), &Control::default()).unwrap();
    let want: Vec<Natural> =
        (0..8u128).map(|i| netlist.evaluate(&[i & 1, i >> 1 & 1, i >> 2]).unwrap()[0].clone()).collect();
    assert_eq!(setup.client.decrypt(&out[0]).unwrap().values, want);
}

/// Takes results as inputs of the next product until no level is left. Returns the message of the error.
pub(crate) fn check_levels_used_up(setup: &Setup) -> String {
    let u4 = Type::Uint(4);
    let mul = Program::from_op("mul", &[u4, u4]).unwrap();
    let y = setup.scalar(u4, 7);
    let (mut product, mut want, mut runs) = (y.clone(), 7, 0);
    let error = loop {
        match setup.server.run(Work::program(&mul, &[product.clone(), y.clone()]), &Control::default()) {
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
    assert!(
        matches!(
            setup
                .server
                .prepare(Work::program(&mul, &[product, y]), &Control::default())
                .and_then(|work| work.estimate(&Control::default())),
            Err(Error::Levels { .. })
        ),
        "when planned"
    );
    let message = error.to_string();
    assert!(message.contains("encrypt its inputs again"), "{message}");
    message
}

/// Elements of one array at different levels, as programs and files leave them, go on as any others.
pub(crate) fn check_mixed_levels(setup: &Setup) {
    let u2 = Type::Uint(2);
    let program = |name| Program::from_op(name, &[u2, u2]).unwrap();
    let control = Control::default();
    let (a, b) = (setup.scalar(u2, 3), setup.scalar(u2, 2));
    let and = |x: &Ciphertext| {
        setup.server.run(Work::program(&program("and"), &[x.clone(), b.clone()]), &control).unwrap().remove(0)
    };
    let (once, twice) = (and(&a), and(&and(&a)));
    let levels = [&a, &once, &twice].map(|x| x.condition().unwrap().products);
    assert!(levels[0] > levels[1] && levels[1] > levels[2], "{levels:?}");
    let mixed = Ciphertext::stack(vec![once, a.clone(), twice]).unwrap();
    let stored = Ciphertext::from_bytes(&mixed.to_bytes().unwrap()).unwrap();
    let (values, others) = ([2, 3, 2], [1, 3, 2]);
    let other = setup.vector(u2, &others);
    for name in ["xor", "and", "add", "eq"] {
        let want = |pairs: [(u128, u128); 3]| pairs.map(|(x, y)| program(name).evaluate(&[x, y]).unwrap()[0].clone());
        let pairs = [0, 1, 2].map(|i| (values[i], others[i]));
        for mixed in [&mixed, &stored] {
            let run = |x: &Ciphertext, y: &Ciphertext| setup.run(&program(name), &[x.clone(), y.clone()]).unwrap();
            assert_eq!(run(mixed, &other), want(pairs), "{name}");
            assert_eq!(run(&other, mixed), want(pairs.map(|(x, y)| (y, x))), "{name}");
            assert_eq!(run(mixed, &a), want(values.map(|x| (x, 3))), "{name} with a scalar");
            assert_eq!(run(mixed, mixed), want(values.map(|x| (x, x))), "{name} with itself");
        }
    }
}

/// Key generation is refused, in words with that among them.
pub(crate) fn check_refused(options: KeygenOptions, word: &str) {
    let message = keygen(&options, &Control::default()).unwrap_err().to_string();
    assert!(message.contains(word), "{message}");
}

/// A key that bootstraps runs circuits of any depth, and so does what is read from its file.
pub(crate) fn check_bootstraps(setup: &Setup) {
    let (u64, u4) = (Type::Uint(64), Type::Uint(4));
    let add = Program::from_op("add", &[u64, u64]).unwrap();
    let [x, y] = [0xffff_ffff_ffff_fff7u64, 0x123_4567_89ab_cdef].map(u128::from);
    let encrypt = |ty, value| setup.scalar(ty, value);
    let inputs = [encrypt(u64, x), encrypt(u64, y)];
    // A chain of 63 carries.
    let ripple = add.lower(Recipe::from(Style::FewestBootstraps)).unwrap();
    let estimate = setup
        .server
        .prepare(Work::program(&crate::circuit(&ripple), &inputs), &Control::default())
        .and_then(|work| work.estimate(&Control::default()))
        .unwrap();
    assert!(estimate.bootstraps > 20 && estimate.bootstrap_seconds > 0.0, "{estimate}");
    let out = setup.server.run(Work::program(&crate::circuit(&ripple), &inputs), &Control::default()).unwrap();
    let sum = (x + y) & u128::from(u64::MAX);
    assert_eq!(setup.client.decrypt(&out[0]).unwrap().values, [sum]);
    let y = inputs[1].clone();
    let more = setup
        .server
        .prepare(Work::program(&add, &[out[0].clone(), y.clone()]), &Control::default())
        .and_then(|work| work.count())
        .unwrap();
    assert!(more.bootstraps > 0, "{more}");
    assert_eq!(setup.run(&add, &[out[0].clone(), y]).unwrap(), [(sum + 0x123_4567_89ab_cdef) & u128::from(u64::MAX)]);
    // Results go on, and a division is deep.
    let (div, mul) = (Program::from_op("div", &[u4, u4]).unwrap(), Program::from_op("mul", &[u4, u4]).unwrap());
    let (mut value, three, seven) = (encrypt(u4, 1), encrypt(u4, 3), encrypt(u4, 7));
    for (factor, want) in [(&seven, 7), (&three, 5), (&seven, 3)] {
        value = setup
            .server
            .run(Work::program(&mul, &[value, factor.clone()]), &Control::default())
            .unwrap()
            .swap_remove(0);
        assert_eq!(setup.client.decrypt(&value).unwrap().values, [want]);
    }
    assert_eq!(setup.run(&div, &[seven, three]).unwrap(), [2]);
    // It is stopped where it is asked to.
    let cancel = AtomicBool::new(true);
    let control = Control { cancel: Some(&cancel), ..Default::default() };
    assert!(matches!(setup.server.run(Work::program(&add, &inputs), &control), Err(Error::Cancelled)));
    // The key is in the file.
    let folder = tempfile::tempdir().unwrap();
    setup.key.save(&folder.path().join("server.key"), false).unwrap();
    let key = ServerKey::load(&folder.path().join("server.key")).unwrap();
    let params = key.params();
    assert!(params.bootstraps);
    let bytes = std::fs::metadata(folder.path().join("server.key")).unwrap().len() as usize;
    assert!((params.server_key_bytes..params.server_key_bytes + 8192).contains(&bytes), "{bytes}");
    let again = Server::new(&key, Some(1)).unwrap();
    let out = again.run(Work::program(&add, &inputs), &Control::default()).unwrap();
    assert_eq!(out, setup.server.run(Work::program(&add, &inputs), &Control::default()).unwrap());
}

/// Sums of any length are bootstrapped before it is too late.
pub(crate) fn check_long_sums(setup: &Setup) {
    let bit = Type::Bool;
    let xor = Program::from_op("xor", &[bit, bit]).unwrap();
    let encrypt = |value| setup.scalar(bit, value);
    let (mut sum, one) = (encrypt(1), encrypt(1));
    // Noise doubles with each, for more rounds than there are bits in the modulus.
    for round in 0..400 {
        let other = if round % 2 == 0 { sum.clone() } else { one.clone() };
        sum = setup.server.run(Work::program(&xor, &[sum, other]), &Control::default()).unwrap().swap_remove(0);
        let want = u128::from(round % 2 == 1);
        assert_eq!(setup.client.decrypt(&sum).unwrap().values, [want], "round {round}");
    }
    let and = Program::from_op("and", &[bit, bit]).unwrap();
    assert_eq!(setup.run(&and, &[sum, one]).unwrap(), [1]);
}

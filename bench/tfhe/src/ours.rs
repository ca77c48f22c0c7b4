//! Ours: gates and tables on the schemes' evaluator, integers through the server of `solinas-engine`.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use bench_common::must;
use solinas_engine::{Control, KeygenOptions, Plain, Program, Type, keygen};
use solinas_schemes::Entropy;
use solinas_schemes::tfhe::{
    BOOL_TRUE, BootstrapTask, ClientKey, Evaluator, LookupTable, LweCiphertext, Params, encode_bool,
};

use crate::case::{Gate, IntOp, KeyKind, OPERANDS, Task};
use crate::engine::{Engine, FnWork, Work};

/// The set for integers and tables.
const INTEGERS: &str = "integers-128";

/// Keys of one set, the server key ready for work.
struct Keys {
    client: ClientKey,
    evaluator: Evaluator,
}

impl Keys {
    fn generate(name: &str) -> Self {
        let params = must(Params::named(name));
        let client = must(ClientKey::generate(&params, false, Entropy::System, &Control::default()));
        let evaluator = must(Evaluator::new(&must(client.server_key(&Control::default()))));
        Self { client, evaluator }
    }

    fn encrypt(&self, value: u32) -> LweCiphertext {
        must(self.client.encrypt(value, &mut must(self.client.encryption_rng(0))))
    }

    fn decrypts_to(&self, ciphertext: &LweCiphertext, value: u32) -> bool {
        must(self.client.decrypt(ciphertext)) == value
    }

    /// `sum c_i x_i + constant`.
    fn linear(&self, terms: &[(i32, &LweCiphertext)], constant: u32) -> LweCiphertext {
        must(LweCiphertext::linear(self.client.params().big_dimension(), terms, constant))
    }

    /// One bootstrap for each argument; the first output of each.
    fn bootstrap(&self, arguments: Vec<LweCiphertext>, table: &LookupTable) -> Vec<LweCiphertext> {
        let jobs: Vec<_> = arguments.into_iter().map(|input| BootstrapTask { input, table }).collect();
        must(self.evaluator.bootstrap(&jobs)).into_iter().flatten().collect()
    }

    fn nands(&self, inputs: &[[LweCiphertext; 2]]) -> Vec<LweCiphertext> {
        let arguments = inputs.iter().map(|[x, y]| self.linear(&[(-1, x), (-1, y)], BOOL_TRUE)).collect();
        self.bootstrap(arguments, &LookupTable::Sign)
    }

    fn xor(&self, x: &LweCiphertext, y: &LweCiphertext) -> Vec<LweCiphertext> {
        self.bootstrap(vec![self.linear(&[(2, x), (2, y)], 2 * BOOL_TRUE)], &LookupTable::Sign)
    }

    /// `s & x` and `!s & y`, of which at most one is true, then their sum.
    fn mux(&self, s: &LweCiphertext, x: &LweCiphertext, y: &LweCiphertext) -> Vec<LweCiphertext> {
        let minus = encode_bool(false);
        let sides = vec![self.linear(&[(1, s), (1, x)], minus), self.linear(&[(-1, s), (1, y)], minus)];
        let sides = self.bootstrap(sides, &LookupTable::Sign);
        let terms: Vec<_> = sides.iter().map(|side| (1, side)).collect();
        vec![self.linear(&terms, BOOL_TRUE)]
    }
}

/// Values made on first use and kept.
struct Cache<K, V>(Mutex<HashMap<K, Arc<V>>>);

impl<K: Eq + Hash, V> Cache<K, V> {
    fn new() -> Self {
        Self(Mutex::default())
    }

    fn get(&self, key: K, make: impl FnOnce() -> V) -> Arc<V> {
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(values.entry(key).or_insert_with(|| Arc::new(make())))
    }
}

/// The keys of a server and of its client.
type ServerKeys = (solinas_engine::ClientKey, solinas_engine::ServerKey);

fn server_keys(set: &str) -> ServerKeys {
    let options = KeygenOptions { params: Some(set.into()), ..Default::default() };
    must(keygen(&options, &Control::default()))
}

/// A server on as many threads as the caller's pool has, confined as the caller is.
fn server(keys: &ServerKeys) -> solinas_engine::Server {
    must(solinas_engine::Server::new(&keys.1, Some(rayon::current_num_threads())))
}

/// Our engine. It makes keys on first use and keeps them.
pub struct Solinas {
    keys: Cache<&'static str, Keys>,
    integers: Cache<(), ServerKeys>,
    /// By number of threads.
    servers: Cache<usize, solinas_engine::Server>,
}

impl Solinas {
    /// Makes no key yet.
    pub fn new() -> Self {
        Self { keys: Cache::new(), integers: Cache::new(), servers: Cache::new() }
    }

    fn keys(&self, set: &'static str) -> Arc<Keys> {
        self.keys.get(set, || Keys::generate(set))
    }

    fn integers(&self) -> Arc<ServerKeys> {
        self.integers.get((), || server_keys(INTEGERS))
    }

    fn server(&self) -> Arc<solinas_engine::Server> {
        let keys = self.integers();
        self.servers.get(rayon::current_num_threads(), || server(&keys))
    }

    fn gate(&self, gate: Gate, set: &'static str) -> Box<dyn Work> {
        let keys = self.keys(set);
        let (select, a, b) = (true, true, false);
        let [s, x, y] = [select, a, b].map(|bit| keys.encrypt(bit.into()));
        let expected = match gate {
            Gate::Nand => !(a & b),
            Gate::Xor => a ^ b,
            Gate::Mux => a, // since `select` is true
        };
        let inputs = [[x, y]];
        let server = Arc::clone(&keys);
        let run = move || match (gate, &inputs) {
            (Gate::Nand, inputs) => server.nands(inputs),
            (Gate::Xor, [[x, y]]) => server.xor(x, y),
            (Gate::Mux, [[x, y]]) => server.mux(&s, x, y),
        };
        FnWork::boxed(run, move |outs: &Vec<_>| outs.iter().all(|out| keys.decrypts_to(out, expected.into())))
    }

    fn nands(&self, count: usize, set: &'static str) -> Box<dyn Work> {
        let keys = self.keys(set);
        let bits = |i: usize| (i as u32 & 1, i as u32 >> 1 & 1);
        let inputs: Vec<_> = (0..count).map(bits).map(|(a, b)| [keys.encrypt(a), keys.encrypt(b)]).collect();
        let server = Arc::clone(&keys);
        let run = move || server.nands(&inputs);
        FnWork::boxed(run, move |outs: &Vec<_>| {
            outs.iter().enumerate().all(|(i, out)| {
                let (a, b) = bits(i);
                keys.decrypts_to(out, 1 - (a & b))
            })
        })
    }

    fn int(&self, op: IntOp, bits: u32) -> Box<dyn Work> {
        let (keys, server) = (self.integers(), self.server());
        let (a, b) = OPERANDS;
        let low = |value: u128| value & (u128::MAX >> (128 - bits.min(128)));
        let (a, b) = (low(a.into()), low(b.into()));
        let (name, expected) = match op {
            IntOp::Add => ("add", low(a + b)),
            IntOp::Mul => ("mul", low(a * b)),
            IntOp::Div => ("div", a / b),
            IntOp::Lt => ("lt", u128::from(a < b)),
            IntOp::BitAnd => ("and", a & b),
        };
        let ty = Type::Uint(bits as u16);
        let program = must(Program::from_op(name, &[ty, ty]));
        let inputs = [a, b].map(|value| must(keys.0.encrypt(&must(Plain::scalar(ty, value)))));
        // The server times its bootstraps once: not within the first sample.
        let work = solinas_engine::Work::program(&program, &inputs);
        must(must(server.prepare(work, &Control::default())).estimate(&Control::default()));
        let run = move || must(server.run(solinas_engine::Work::program(&program, &inputs), &Control::default()));
        FnWork::boxed(run, move |outs: &Vec<_>| outs.iter().all(|out| must(keys.0.decrypt(out)).values == [expected]))
    }

    fn lut(&self) -> Box<dyn Work> {
        let keys = self.keys(INTEGERS);
        let square: [u8; 16] = std::array::from_fn(|x| (x * x % 4) as u8);
        let (table, x) = (LookupTable::Entries(vec![square]), keys.encrypt(3));
        let server = Arc::clone(&keys);
        let run = move || server.bootstrap(vec![x.clone()], &table);
        FnWork::boxed(run, move |outs: &Vec<_>| outs.iter().all(|out| keys.decrypts_to(out, square[3].into())))
    }
}

impl Engine for Solinas {
    fn name(&self) -> String {
        concat!("solinas ", env!("CARGO_PKG_VERSION")).into()
    }

    fn prepare(&self, task: Task) -> Option<Box<dyn Work>> {
        Some(match task {
            Task::Gate(gate, _, set) => self.gate(gate, set.name()),
            Task::Nands(count, _, set) => self.nands(count, set.name()),
            Task::Int(op, bits) => self.int(op, bits),
            Task::Lut => self.lut(),
            // Both until the first operation can start: the server key transformed.
            Task::Keygen(KeyKind::Gate(_, set)) => FnWork::boxed(
                move || Keys::generate(set.name()),
                |keys| {
                    let outs = keys.nands(&[[keys.encrypt(1), keys.encrypt(0)]]);
                    outs.iter().all(|out| keys.decrypts_to(out, 1))
                },
            ),
            Task::Keygen(KeyKind::Int) => FnWork::boxed(
                || {
                    let keys = server_keys(INTEGERS);
                    (server(&keys), keys)
                },
                |(server, (client, _))| {
                    let ty = Type::Uint(16);
                    let program = must(Program::from_op("and", &[ty, ty]));
                    let inputs = [0x0ff0, 0x3c3c].map(|value| must(client.encrypt(&must(Plain::scalar(ty, value)))));
                    let outs = must(server.run(solinas_engine::Work::program(&program, &inputs), &Control::default()));
                    outs.iter().all(|out| must(client.decrypt(out)).values == [0x0ff0 & 0x3c3c])
                },
            ),
        })
    }

    fn key_bytes(&self, kind: KeyKind, seeded: bool) -> Option<u64> {
        let bytes = match (kind, seeded) {
            (KeyKind::Gate(_, set), false) => self.keys(set.name()).evaluator.size(),
            (KeyKind::Gate(_, set), true) => must(server_keys(set.name()).1.to_bytes()).len(),
            (KeyKind::Int, false) => self.server().memory_bytes(),
            (KeyKind::Int, true) => must(self.integers().1.to_bytes()).len(),
        };
        Some(bytes as u64)
    }
}

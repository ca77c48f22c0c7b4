//! The peer: tfhe-rs, used through its public interface and with its own parameter sets.

use std::ops::{Add, BitAnd, Div, Mul};
use std::sync::{Arc, LazyLock};

use rayon::prelude::*;
use tfhe::boolean::prelude as boolean;
use tfhe::boolean::prelude::BinaryBooleanGates;
use tfhe::prelude::{FheDecrypt, FheOrd, FheTryEncrypt};
use tfhe::shortint;
use tfhe::shortint::parameters::PARAM_MESSAGE_2_CARRY_2_KS_PBS_TUNIFORM_2M128;
use tfhe::{ConfigBuilder, FheBool, FheUint, FheUint16Id, FheUint32Id, FheUint64Id, FheUint256Id, FheUintId};

use crate::case::{Gate, GateSet, IntOp, KeyKind, OPERANDS, Task};
use crate::engine::{Engine, FnWork, Work};
use crate::tfhe_go;

type Lazy<T> = LazyLock<Arc<T>, Box<dyn FnOnce() -> Arc<T> + Send>>;

struct GateKeys {
    client: boolean::ClientKey,
    server: boolean::ServerKey,
}

struct IntKeys {
    client: tfhe::ClientKey,
    server: tfhe::ServerKey,
}

struct LutKeys {
    client: shortint::ClientKey,
    server: shortint::ServerKey,
}

/// tfhe-rs; keys are made on first use and kept.
pub struct TfheRs {
    gate_keys: [Lazy<GateKeys>; GateSet::TFHE_RS.len()],
    int_keys: Lazy<IntKeys>,
    lut_keys: Lazy<LutKeys>,
}

impl TfheRs {
    /// Makes no key yet.
    pub fn new() -> Self {
        Self {
            gate_keys: GateSet::TFHE_RS.map(|set| Lazy::new(Box::new(move || Arc::new(gate_keys(set))))),
            int_keys: Lazy::new(Box::new(|| Arc::new(int_keys()))),
            lut_keys: Lazy::new(Box::new(|| Arc::new(lut_keys()))),
        }
    }

    fn gate_keys(&self, set: GateSet) -> Arc<GateKeys> {
        Arc::clone(&self.gate_keys[set as usize])
    }

    fn gate(&self, gate: Gate, set: GateSet) -> Box<dyn Work> {
        let keys = self.gate_keys(set);
        let (select, a, b) = (true, true, false);
        let [s, x, y] = [select, a, b].map(|bit| keys.client.encrypt(bit));
        let expected = match gate {
            Gate::Nand => !(a & b),
            Gate::Xor => a ^ b,
            Gate::Mux => a, // since `select` is true
        };
        let server = Arc::clone(&keys);
        let run = move || match gate {
            Gate::Nand => server.server.nand(&x, &y),
            Gate::Xor => server.server.xor(&x, &y),
            Gate::Mux => server.server.mux(&s, &x, &y),
        };
        FnWork::boxed(run, move |out| keys.client.decrypt(out) == expected)
    }

    fn nands(&self, count: usize, set: GateSet) -> Box<dyn Work> {
        let keys = self.gate_keys(set);
        let bits = |i: usize| (i & 1 == 1, i & 2 == 2);
        let inputs: Vec<_> =
            (0..count).map(bits).map(|(a, b)| (keys.client.encrypt(a), keys.client.encrypt(b))).collect();
        let server = Arc::clone(&keys);
        let run = move || -> Vec<_> { inputs.par_iter().map(|(x, y)| server.server.nand(x, y)).collect() };
        FnWork::boxed(run, move |outs: &Vec<boolean::Ciphertext>| {
            outs.iter().enumerate().all(|(i, out)| {
                let (a, b) = bits(i);
                keys.client.decrypt(out) != (a & b)
            })
        })
    }

    fn int<Id>(&self, op: IntOp, bits: u32) -> Box<dyn Work>
    where
        Id: FheUintId,
        FheUint<Id>: Send + Sync + 'static,
    {
        let keys = Arc::clone(&self.int_keys);
        let low = move |value: u128| value & (u128::MAX >> (128 - bits.min(128)));
        let (a, b) = OPERANDS;
        let (a, b) = (low(a.into()) as u64, low(b.into()) as u64);
        let encrypt = |value: u64| match FheUint::<Id>::try_encrypt(value, &keys.client) {
            Ok(ciphertext) => ciphertext,
            Err(error) => panic!("tfhe-rs refused to encrypt {value:#x} as u{bits}: {error}"),
        };
        let (x, y) = (encrypt(a), encrypt(b));
        // The high-level interface finds its key in each thread's storage.
        rayon::broadcast(|_| tfhe::set_server_key(keys.server.clone()));
        let uint = |f: fn(&FheUint<Id>, &FheUint<Id>) -> FheUint<Id>, expected: u128| {
            let (x, y, keys) = (x.clone(), y.clone(), Arc::clone(&keys));
            FnWork::boxed(
                move || f(&x, &y),
                move |out| {
                    let value: u128 = out.decrypt(&keys.client);
                    value == low(expected)
                },
            )
        };
        match op {
            IntOp::Add => uint(|x, y| x.add(y), u128::from(a) + u128::from(b)),
            IntOp::Mul => uint(|x, y| x.mul(y), u128::from(a) * u128::from(b)),
            IntOp::Div => uint(|x, y| x.div(y), (a / b).into()),
            IntOp::BitAnd => uint(|x, y| x.bitand(y), (a & b).into()),
            IntOp::Lt => {
                let keys = Arc::clone(&keys);
                FnWork::boxed(move || x.lt(&y), move |out: &FheBool| out.decrypt(&keys.client) == (a < b))
            }
        }
    }

    fn lut(&self) -> Box<dyn Work> {
        let keys = Arc::clone(&self.lut_keys);
        let square = |x: u64| (x * x) % 4;
        let table = keys.server.generate_lookup_table(square);
        let x = keys.client.encrypt(3);
        let server = Arc::clone(&keys);
        FnWork::boxed(
            move || server.server.apply_lookup_table(&x, &table),
            move |out| keys.client.decrypt(out) == square(3),
        )
    }
}

impl Engine for TfheRs {
    fn name(&self) -> String {
        "tfhe-rs 1.8.2".into()
    }

    fn prepare(&self, task: Task) -> Option<Box<dyn Work>> {
        if task.in_another_process() {
            return tfhe_go::prepare(task);
        }
        Some(match task {
            Task::Gate(gate, set, _) => self.gate(gate, set),
            Task::Nands(count, set, _) => self.nands(count, set),
            Task::Int(op, 16) => self.int::<FheUint16Id>(op, 16),
            Task::Int(op, 32) => self.int::<FheUint32Id>(op, 32),
            Task::Int(op, 64) => self.int::<FheUint64Id>(op, 64),
            Task::Int(op, 256) => self.int::<FheUint256Id>(op, 256),
            Task::Int(..) => return None,
            Task::Lut => self.lut(),
            Task::Keygen(KeyKind::Gate(set, _)) => FnWork::boxed(
                move || gate_keys(set),
                |keys| keys.client.decrypt(&keys.server.nand(&keys.client.encrypt(true), &keys.client.encrypt(false))),
            ),
            Task::Keygen(KeyKind::Int) => FnWork::boxed(int_keys, int_keys_work),
        })
    }

    fn key_bytes(&self, kind: KeyKind, seeded: bool) -> Option<u64> {
        match (kind, seeded) {
            (KeyKind::Gate(set, _), false) => bincode::serialized_size(&self.gate_keys(set).server),
            (KeyKind::Gate(set, _), true) => {
                let key = tfhe::boolean::server_key::CompressedServerKey::new(&self.gate_keys(set).client);
                bincode::serialized_size(&key)
            }
            (KeyKind::Int, false) => bincode::serialized_size(&self.int_keys.server),
            (KeyKind::Int, true) => bincode::serialized_size(&tfhe::CompressedServerKey::new(&self.int_keys.client)),
        }
        .ok()
    }
}

fn gate_keys(set: GateSet) -> GateKeys {
    let client = boolean::ClientKey::new(&match set {
        GateSet::P64 => boolean::DEFAULT_PARAMETERS,
        GateSet::P64KsPbs => boolean::DEFAULT_PARAMETERS_KS_PBS,
        GateSet::P165 => boolean::PARAMETERS_ERROR_PROB_2_POW_MINUS_165,
        GateSet::P165KsPbs => boolean::PARAMETERS_ERROR_PROB_2_POW_MINUS_165_KS_PBS,
        // The other peer's gates do not come here.
        GateSet::TfheLib | GateSet::TfheGo => boolean::TFHE_LIB_PARAMETERS,
    });
    let server = boolean::ServerKey::new(&client);
    GateKeys { client, server }
}

fn int_keys() -> IntKeys {
    let (client, server) = tfhe::generate_keys(ConfigBuilder::default().build());
    IntKeys { client, server }
}

/// Whether one operation under these keys decrypts to the right value.
fn int_keys_work(keys: &IntKeys) -> bool {
    let [Ok(x), Ok(y)] = [0x0ff0_u64, 0x3c3c].map(|value| FheUint::<FheUint16Id>::try_encrypt(value, &keys.client))
    else {
        return false;
    };
    let out = tfhe::with_server_key_as_context(keys.server.clone(), || (&x).bitand(&y));
    let value: u64 = out.decrypt(&keys.client);
    value == 0x0ff0 & 0x3c3c
}

fn lut_keys() -> LutKeys {
    let (client, server) = shortint::gen_keys(PARAM_MESSAGE_2_CARRY_2_KS_PBS_TUNIFORM_2M128);
    LutKeys { client, server }
}

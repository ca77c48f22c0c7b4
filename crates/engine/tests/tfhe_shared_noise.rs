//! Noise that results share: the weight with which later work is planned bounds the measured variance of every sum.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use solinas_circuits::program::{OPERATIONS, Program};
use solinas_circuits::{Builder, NodeId};
use solinas_engine::{
    Ciphertext, Control, CostModel, Form, Inputs, KeygenOptions, Netlist, Plain, Plan, Server, ServerOptions, Type,
    Work, keygen,
};
use solinas_formats::{Expect, Kind, Reader, tfhe as files};
use solinas_schemes::tfhe::{ClientKey, LweCiphertext, noise};

/// Elements of each array, which are the samples. The variance errs by 8 %, and five times that is allowed, because the test takes the
/// largest of thousands.
const SAMPLES: usize = 300;
const TOLERANCE: f64 = 1.4;

struct Setup {
    client: solinas_engine::ClientKey,
    key: ClientKey,
    server: Server,
}

fn setup(params: &str) -> Setup {
    let options = KeygenOptions { params: Some(params.into()), insecure_seed: Some(5), ..KeygenOptions::default() };
    let (client, key) = keygen(&options, &Control::default()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("client.key");
    client.save(&path, false).unwrap();
    let scheme_key = files::read_client(&Reader::open(&path, Expect::kind(Kind::ClientKey)).unwrap()).unwrap();
    let options = ServerOptions { model: Some(CostModel::Fewest), ..ServerOptions::default() };
    Setup { client, key: scheme_key, server: Server::with_options(&key, &options).unwrap() }
}

impl Setup {
    /// Fresh arrays of zeros.
    fn fresh(&self, types: &[Type], len: usize) -> Vec<Ciphertext> {
        let array = |&ty| self.client.encrypt(&Plain::new(ty, Some(vec![len]), vec![0; len]).unwrap()).unwrap();
        types.iter().map(array).collect()
    }

    fn run(&self, program: &Program, inputs: &[Ciphertext]) -> Vec<Ciphertext> {
        self.server.run(Work::program(program, inputs), &Control::default()).unwrap()
    }

    fn circuit(&self, netlist: &Netlist, inputs: &[Ciphertext]) -> Vec<Ciphertext> {
        self.server.run(Work::program(&crate::circuit(netlist), inputs), &Control::default()).unwrap()
    }

    /// The noise weight of a plan for these inputs.
    fn weight(&self, inputs: &[&Ciphertext]) -> u64 {
        let mut builder = Builder::new();
        let numbered = inputs.iter().enumerate();
        let wide: Vec<_> =
            numbered.map(|(i, input)| builder.input(format!("x{i}"), input.ty().width(), false)).collect();
        builder.output("y", &wide.iter().map(|bits| bits[0]).collect::<Vec<NodeId>>(), false);
        let netlist = builder.finish().unwrap();
        let inputs: Vec<Ciphertext> = inputs.iter().map(|&input| input.clone()).collect();
        let circuit = crate::circuit(&netlist);
        let plan: Plan =
            self.server.prepare(Work::program(&circuit, &inputs), &Control::default()).unwrap().plan().unwrap();
        let bytes = plan.to_bytes().unwrap();
        Reader::from_bytes("plan", bytes, Expect::kind(Kind::Plan)).unwrap().meta("weight").unwrap()
    }

    /// The errors of each block, in variances of a fresh value times the square root. Shape: blocks of an element, then elements.
    fn errors(&self, array: &Ciphertext, variance: f64) -> Vec<Vec<f64>> {
        let reader = Reader::from_bytes("ct", array.to_bytes().unwrap(), Expect::kind(Kind::Ciphertext)).unwrap();
        let width = array.ty().width();
        let blocks = if array.form() == Form::Bits { width } else { width.div_ceil(2) };
        let size = self.key.params().big_dimension() + 1;
        let words = reader.section_u32("lwe", array.len() * blocks * size).unwrap();
        let spacing = if array.form() == Form::Bits { 1u32 << 30 } else { 1 << 27 };
        let offset = if array.form() == Form::Bits { 1u32 << 29 } else { 0 };
        let error = |words: &[u32]| {
            let phase = self.key.phase(&LweCiphertext::from_words(words.to_vec())).unwrap().wrapping_sub(offset);
            let nearest = (phase.wrapping_add(spacing / 2) / spacing).wrapping_mul(spacing);
            f64::from(phase.wrapping_sub(nearest) as i32) / 2f64.powi(32) / variance.sqrt()
        };
        let all: Vec<f64> = words.chunks_exact(size).map(error).collect();
        (0..blocks).map(|block| all.iter().skip(block).step_by(blocks).copied().collect()).collect()
    }

    /// Checks every sum and difference of two blocks of two results, before and after a file, against the weight of a plan that reads both.
    fn check(&self, what: &str, [u, v]: [&Ciphertext; 2], variance: f64) -> f64 {
        let weight = self.weight(&[u, v]);
        let [read_u, read_v] = [u, v].map(|x| Ciphertext::from_bytes(&x.to_bytes().unwrap()).unwrap());
        assert_eq!(self.weight(&[&read_u, &read_v]), weight, "{what}: another weight after a file");
        let (left, right) = (self.errors(u, variance), self.errors(v, variance));
        let blocks: Vec<&Vec<f64>> = left.iter().chain(&right).collect();
        let mut largest: f64 = 0.0;
        for (i, a) in blocks.iter().enumerate() {
            for b in &blocks[i + 1..] {
                for sign in [1.0, -1.0] {
                    let sum = a.iter().zip(*b).map(|(a, b)| (a + sign * b).powi(2)).sum::<f64>();
                    largest = largest.max(sum / a.len() as f64 / 2.0);
                }
            }
        }
        // The planner refreshes each input of this weight before any sum.
        let refreshes = weight >= if u.form() == Form::Bits { 3 } else { 160 };
        println!("{what}: {largest:.2} of {weight}{}", if refreshes { ", refreshed" } else { "" });
        assert!(refreshes || largest <= weight as f64 * TOLERANCE, "{what}: {largest:.2} times, planned with {weight}");
        largest
    }
}

/// Every operation on these types that takes no bootstrap.
fn without_bootstraps(server: &Server) -> Vec<(String, Program, Vec<Type>)> {
    let types = [Type::Uint(4), Type::Int(4), Type::Bool];
    let casts = ["to_u2", "to_u4", "to_u6", "to_i4", "to_i6", "to_bool"].map(str::to_owned);
    let mut all = Vec::new();
    for name in OPERATIONS.iter().map(|operation| operation.name.to_owned()).chain(casts) {
        for ty in types {
            for operands in [vec![ty], vec![ty; 2], vec![Type::Bool, ty, ty]] {
                let Ok(program) = Program::from_op(&name, &operands) else { continue };
                let fresh = Work::program(&program, Inputs::Fresh { instances: 1 });
                let Ok(prepared) = server.prepare(fresh, &Control::default()) else { continue };
                if prepared.count().unwrap().bootstraps == 0 {
                    all.push((format!("{name}{operands:?}"), program, operands));
                }
            }
        }
    }
    all
}

#[test]
fn results_of_operations_without_bootstraps_are_planned_with_the_noise_that_they_share() {
    for params in ["integers-40", "gates-40"] {
        let setup = setup(params);
        let variance = noise::fresh(setup.key.params());
        let mut found: f64 = 0.0;
        let operations = without_bootstraps(&setup.server);
        assert!(operations.len() >= 5, "{params}: {} operations", operations.len());
        for (name, program, types) in &operations {
            // u = f(a, ..) and v = a, and u = f(a, b, ..) and v = f(a, c, ..).
            let inputs = setup.fresh(types, SAMPLES);
            let u = setup.run(program, &inputs).remove(0);
            let mut others = setup.fresh(types, SAMPLES);
            others[0] = inputs[0].clone();
            let v = setup.run(program, &others).remove(0);
            found = found.max(setup.check(&format!("{params}, {name} and itself"), [&u, &v], variance));
            let whole = Program::from_op("to_u4", &types[..1]).map(|cast| setup.run(&cast, &inputs[..1]));
            if let Ok(mut cast) = whole {
                setup.check(&format!("{params}, {name} and a cast"), [&u, &cast.remove(0)], variance);
            }
        }
        // A value and its complement: the difference has four times the variance of one of them.
        assert!(found > 1.7, "{params}: no operation shares noise: {found}");
    }
}

/// A circuit of one-bit inputs whose output has these bits.
fn wires(inputs: usize, output: impl Fn(&mut Builder<'_>, &[NodeId]) -> Vec<NodeId>) -> Netlist {
    let mut builder = Builder::new();
    let bits: Vec<NodeId> = (0..inputs).map(|i| builder.input(format!("x{i}"), 1, false)[0]).collect();
    let bits = output(&mut builder, &bits);
    builder.output("y", &bits, false);
    builder.finish().unwrap()
}

#[test]
fn circuits_that_only_wire_are_planned_with_the_noise_that_they_share() {
    for params in ["integers-40", "gates-40"] {
        let setup = setup(params);
        let variance = noise::fresh(setup.key.params());
        let inputs = setup.fresh(&[Type::Bool; 3], SAMPLES);
        let pick = |bits: [usize; 2]| bits.map(|bit| inputs[bit].clone()).to_vec();
        // Two bits become one block, so the same block is a part of both results.
        let pair = wires(2, |_, bits| bits.to_vec());
        let inverted = wires(2, |builder, bits| bits.iter().map(|&bit| builder.not(bit)).collect());
        let repeated = wires(2, |_, bits| vec![bits[0], bits[0], bits[0], bits[1]]);
        let all = [("pair", &pair), ("inverted", &inverted), ("repeated", &repeated)];
        for (name, first) in all {
            for (other, second) in all {
                let u = setup.circuit(first, &pick([0, 1])).remove(0);
                let v = setup.circuit(second, &pick([0, 2])).remove(0);
                setup.check(&format!("{params}, {name} and {other}"), [&u, &v], variance);
                let w = setup.circuit(second, &pick([2, 0])).remove(0);
                setup.check(&format!("{params}, {name} and {other}, swapped"), [&u, &w], variance);
            }
        }
        // One result, with an operand of it.
        let u = setup.circuit(&pair, &pick([0, 1])).remove(0);
        let bit = setup.circuit(&wires(1, |_, bits| bits.to_vec()), &inputs[1..2]).remove(0);
        setup.check(&format!("{params}, a pair and its bit"), [&u, &bit], variance);
    }
}

#[test]
fn results_of_bootstraps_that_share_rotations_are_planned_with_their_noise() {
    // A multiplexer under a set of gates is a sum of two bootstraps, and one of them depends on two of its inputs alone.
    let setup = setup("gates-40");
    let variance = noise::bootstrap(setup.key.params());
    let inputs = setup.fresh(&[Type::Bool; 4], SAMPLES);
    let select = Program::from_op("select", &[Type::Bool; 3]).unwrap();
    let [u, v] = [1, 2]
        .map(|other| setup.run(&select, &[inputs[0].clone(), inputs[3].clone(), inputs[other].clone()]).remove(0));
    let found = setup.check("gates-40, two multiplexers with a common rotation", [&u, &v], variance);
    assert!(found > 2.3, "{found}");
}

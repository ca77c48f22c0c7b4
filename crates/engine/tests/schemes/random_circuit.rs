//! Random circuits of every kind of gate, and their encrypted runs against plain evaluation.

use rand_core::{RngCore, SeedableRng};
use solinas_circuits::{BinaryOp, Builder, Gate, Netlist, NodeId};
use solinas_engine::{Ciphertext, ClientKey, Control, Error, Natural, Plain, Program, Server, Type, Work};

/// A generator that repeats.
pub(crate) type Rng = rand_chacha::ChaCha8Rng;

/// Random numbers from a seed.
pub(crate) fn rng(seed: u64) -> Rng {
    Rng::seed_from_u64(seed)
}

fn below(rng: &mut Rng, limit: usize) -> usize {
    (rng.next_u64() % limit as u64) as usize
}

/// A circuit of 1 to `most` gates on one to three ports of 1 to 4 bits. Most operands are among the latest nodes, so that circuits are deep.
pub(crate) fn circuit(rng: &mut Rng, most: usize) -> Netlist {
    let mut builder = Builder::verbatim();
    let mut nodes: Vec<NodeId> = Vec::new();
    for port in 0..=below(rng, 3) {
        nodes.extend(builder.input(format!("x{port}"), 1 + below(rng, 4), false));
    }
    let gates = 1 + below(rng, most);
    for _ in 0..gates {
        let mut pick = || {
            let far = below(rng, 4) == 0;
            let back = below(rng, if far { nodes.len() } else { nodes.len().min(3) });
            nodes[nodes.len() - 1 - back]
        };
        let all = [pick(), pick(), pick()];
        let gate = match below(rng, 15) {
            10 => Gate::Not(all[0]),
            11 => Gate::Const(all[0].0 & 1 == 1),
            12 => Gate::Mux { sel: all[0], if_true: all[1], if_false: all[2] },
            13 => Gate::Xor3(all),
            14 => Gate::Maj(all),
            op => Gate::Binary(BinaryOp::ALL[op], all[0], all[1]),
        };
        nodes.push(builder.gate(gate));
    }
    let outputs: Vec<NodeId> = nodes.iter().rev().take(1 + below(rng, 8)).copied().collect();
    builder.output("y", &outputs, false);
    builder.finish().expect("a circuit in order")
}

/// Runs a circuit on random inputs, gate for gate or optimized; whether it gives what plain evaluation does.
///
/// # Errors
/// From the server.
pub(crate) fn agrees(
    client: &ClientKey,
    server: &Server,
    netlist: &Netlist,
    optimize: bool,
    rng: &mut Rng,
) -> Result<bool, Error> {
    let mut plain = Vec::new();
    let mut inputs: Vec<Ciphertext> = Vec::new();
    for port in netlist.inputs() {
        let ty = Type::Uint(port.bits.len() as u16);
        let value = Natural::from(u128::from(rng.next_u64())).low(ty.width());
        plain.push(value.clone());
        inputs.push(client.encrypt(&Plain::new(ty, None, vec![value])?)?);
    }
    let control = Control::default();
    let program = Program::of_circuit(netlist.clone(), optimize)?;
    let outputs = server.run(Work::program(&program, &inputs), &control)?;
    let got =
        outputs.iter().map(|output| Ok(client.decrypt(output)?.values.remove(0))).collect::<Result<Vec<_>, Error>>()?;
    Ok(got == netlist.evaluate(&plain)?)
}

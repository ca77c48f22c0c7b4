//! Circuits of other programs, encrypted: the result is that of an interpreter of their cells.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::foreign;

use foreign::{Foreign, Format, rng};
use rand_core::RngCore;
use solinas_engine::{Ciphertext, Control, KeygenOptions, Natural, Plain, Server, Type, Work, import, keygen};

#[test]
fn encrypted_circuits_of_other_programs_compute_what_their_cells_do() {
    for (set, first) in [("gates-toy", 0), ("integers-toy", 4)] {
        let options = KeygenOptions {
            params: Some(set.into()),
            research: true,
            insecure_seed: Some(5),
            ..KeygenOptions::default()
        };
        let (client, key) = keygen(&options, &Control::default()).unwrap();
        let server = Server::new(&key, Some(2)).unwrap();
        for format in [Format::Blif, Format::Yosys, Format::Bristol] {
            for seed in first..first + 4 {
                let mut rng = rng(seed);
                let circuit = Foreign::new(&mut rng, format, 12);
                let netlist = import::read(&circuit.text(&mut rng, format)).unwrap();
                let bits: Vec<bool> = (0..netlist.input_bits()).map(|_| rng.next_u32() % 2 == 1).collect();
                let mut rest = bits.iter();
                let encrypt = |(_, width): &(String, usize)| -> Ciphertext {
                    let value = Natural::from_bits(rest.by_ref().take(*width).copied());
                    client.encrypt(&Plain::new(Type::Uint(*width as u16), None, vec![value]).unwrap()).unwrap()
                };
                let inputs: Vec<Ciphertext> = circuit.inputs.iter().map(encrypt).collect();
                let outputs =
                    server.run(Work::program(&crate::circuit(&netlist), &inputs), &Control::default()).unwrap();
                let decrypted = outputs.iter().zip(&circuit.outputs).flat_map(|(output, (_, width))| {
                    let value = client.decrypt(output).unwrap().values.remove(0);
                    (0..*width).map(move |i| value.bit(i))
                });
                let found: Vec<bool> = decrypted.collect();
                assert_eq!(found, circuit.evaluate(&bits), "{set}, {format:?}, seed {seed}");
            }
        }
    }
}

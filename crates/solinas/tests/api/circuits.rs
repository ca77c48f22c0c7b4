//! Circuits of other tools.

use crate::keys;
use solinas::circuits::{build::Recipe, export::write_blif};
use solinas::{Circuit, Encrypted, EncryptedArray, ErrorKind, Uint, circuits};

/// A circuit that is one operation.
pub(crate) fn circuit(operation: &str, types: &[solinas::Type]) -> Circuit {
    circuits::Program::from_op(operation, types).unwrap().lower(Recipe::default()).unwrap().into()
}

#[test]
fn circuits_are_read_evaluated_and_run_inside_expressions() {
    let add = circuit("add", &[solinas::Type::Uint(8); 2]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("add.blif");
    std::fs::write(&path, write_blif(add.netlist())).unwrap();
    let add = Circuit::load(&path).unwrap().optimize();
    assert_eq!(add.evaluate(&[200, 100]).unwrap(), [44]);
    assert_eq!((add.inputs().len(), add.outputs()[0].bits.len()), (2, 8));
    let (client, _, server) = keys();
    let (a, b) = (client.encrypt(200u8).unwrap(), client.encrypt(50u8).unwrap());
    let sum: Encrypted<u8> = add.call((&a, &b * 2)).unwrap();
    let signed: Encrypted<i8> = add.call((&a, &b)).unwrap();
    let work = server.prepare((&sum + 1, signed)).unwrap();
    assert!(work.count().unwrap().bootstraps > 0);
    let (sum, signed) = work.run().unwrap();
    assert_eq!(client.decrypt((sum, signed)).unwrap(), (45, 250u8 as i8));
}

/// The complement of a port of that width.
fn complement(width: usize) -> Circuit {
    let text = format!(
        ".model wide\n.inputs {}\n.outputs {}\n{}.end\n",
        (0..width).map(|i| format!("a[{i}] ")).collect::<String>(),
        (0..width).map(|i| format!("y[{i}] ")).collect::<String>(),
        (0..width).map(|i| format!(".names a[{i}] y[{i}]\n0 1\n")).collect::<String>(),
    );
    Circuit::from_text(&text).unwrap()
}

#[test]
fn ports_take_and_give_integers_of_their_width_and_wider_ones_arrays_of_bools() {
    let (client, _, server) = keys();
    let bits: Vec<bool> = (0..2050).map(|i| i % 3 == 0).collect();
    let inverted: EncryptedArray<bool> = complement(2050).call(client.encrypt(&bits).unwrap()).unwrap();
    let inverted = client.decrypt(server.run(inverted).unwrap()).unwrap();
    assert_eq!(inverted, bits.iter().map(|bit| !bit).collect::<Vec<_>>());
    let value = Uint::<130>::from_le_bytes(&[0xa5; 16]).unwrap();
    let inverted: Encrypted<Uint<130>> = complement(130).call(client.encrypt(value).unwrap()).unwrap();
    let inverted = client.decrypt(server.run(inverted).unwrap()).unwrap();
    assert_eq!(inverted.to_le_bytes(), [[0x5a; 16].as_slice(), &[3]].concat());
}

#[test]
fn calls_that_do_not_match_the_ports_are_refused() {
    let add = circuit("add", &[solinas::Type::Uint(8); 2]);
    let (client, ..) = keys();
    let (a, wide) = (client.encrypt(1u8).unwrap(), client.encrypt(1u16).unwrap());
    let refused = |result: solinas::Result<Encrypted<u8>>, what: &str| {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Type);
        assert!(error.to_string().contains(what), "{error}");
    };
    refused(add.call(&a), "2 inputs, and 1");
    refused(add.call((&a, &wide)), "16 bits");
    refused(add.call((&a, client.encrypt([true; 9]).unwrap())), "an array of 9");
    assert_eq!(add.call::<Encrypted<u16>>((&a, &a)).unwrap_err().kind(), ErrorKind::Type);
    assert_eq!(add.call::<(Encrypted<u8>, Encrypted<bool>)>((&a, &a)).unwrap_err().kind(), ErrorKind::Type);
    assert_eq!(add.call::<EncryptedArray<bool>>((&a, &a)).unwrap_err().kind(), ErrorKind::Type);
    assert_eq!(Circuit::from_text("nonsense").unwrap_err().kind(), ErrorKind::Circuit);
    let error = Circuit::load("/none/such.blif").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::File);
}

//! Files of TFHE keys of earlier parameter sets.

use solinas_formats::tfhe::{client_header, params, read_client, write_client};
use solinas_formats::{Header, KeyId, Kind};
use solinas_schemes::security::Status;
use solinas_schemes::tfhe::{ClientKey, Params, ParamsLiteral};
use solinas_schemes::{Control, Entropy};

use crate::common::{file, open};

/// The `gates-40` of version 0.1, with the claims that its files make.
fn former() -> ParamsLiteral {
    ParamsLiteral {
        lwe_dimension: 636,
        lwe_log2_std: -13.66,
        glwe_log2_std: -36.7,
        classical_bits: 128.0,
        quantum_bits: 121.9,
        ..Params::named("gates-40").unwrap().literal().clone()
    }
}

#[test]
fn keys_of_earlier_sets_are_read_and_claim_what_is_true_of_them() {
    let key = ClientKey::generate(&Params::stored(&former()).unwrap(), true, Entropy::Insecure(7), &Control::default())
        .unwrap();
    let old = Header::new(Kind::ClientKey).scheme("tfhe").params(&former()).unwrap().key_id(key.id());
    let old = old.insecure_seed(true).meta("seed", &KeyId(*key.public_seed()));
    for header in [old, client_header(&key)] {
        let read = read_client(&open(&file(header, |writer| write_client(writer, &key))).unwrap()).unwrap();
        let claim = read.params().security();
        assert_eq!((read.lwe_bits(), read.glwe_bits()), (key.lwe_bits(), key.glwe_bits()));
        assert!(claim.classical_bits < 128.0 && matches!(claim.status, Status::ResearchOnly { .. }), "{claim:?}");
    }
}

#[test]
fn numbers_that_no_set_of_that_name_had_are_refused() {
    let named = Params::named("gates-128").unwrap().literal().clone();
    let weaker = |change: fn(&mut ParamsLiteral)| {
        let mut literal = named.clone();
        change(&mut literal);
        literal
    };
    let cases =
        [weaker(|l| l.lwe_dimension = 500), weaker(|l| l.glwe_log2_std = -40.0), weaker(|l| l.name = "gates-1".into())];
    for literal in cases {
        let header = Header::new(Kind::ClientKey).scheme("tfhe").params(&literal);
        let bytes = file(header, |_| Ok(()));
        let error = params(&open(&bytes).unwrap()).unwrap_err().to_string();
        assert!(error.contains("gates-1"), "{error}");
    }
    // Claims are not taken from files.
    let header = Header::new(Kind::ClientKey).scheme("tfhe").params(&weaker(|l| l.classical_bits = 999.0));
    let read = params(&open(&file(header, |_| Ok(()))).unwrap()).unwrap();
    assert_eq!(read.literal(), &named);
}

//! Claims of the sets beside `tools/security/claims.json`, the costs by the lattice estimator. TFHE and BGV compare theirs
//! with their own files.

#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::Value;
use solinas_schemes::lwe::{self, fresh, pir};
use solinas_schemes::ntru;
use solinas_schemes::security::lwe::Problem;
use solinas_schemes::security::{SecurityClaim, Status, model};

/// The problem of that name, and the least cost of the attacks that `kind` names.
fn point<'a>(data: &'a Value, name: &str) -> (&'a Value, impl Fn(&str) -> f64) {
    let point = &data["points"][name];
    let least = move |kind: &str| {
        let costs = point[kind].as_object().unwrap_or_else(|| panic!("there are no costs of {name}"));
        costs.values().map(|cost| cost.as_f64().unwrap()).fold(f64::INFINITY, f64::min)
    };
    (&point["point"], least)
}

/// Compares a claim with the costs of its problems. Claims are lower by what the library's search may miss.
fn compare(name: &str, claim: &SecurityClaim, problems: &[&str]) {
    let data: Value = serde_json::from_str(include_str!("../../../tools/security/claims.json")).unwrap();
    let least = |kind: &str| problems.iter().map(|name| point(&data, name).1(kind)).fold(f64::INFINITY, f64::min);
    for (bits, kind) in [(claim.classical_bits, "classical"), (claim.quantum_bits, "quantum")] {
        assert!((0.0..2.5).contains(&(least(kind) - bits)), "{name}, {kind}: {bits}, and {} in the table", least(kind));
    }
    assert!(claim.classical_bits >= 128.5 && claim.status == Status::Recommended, "{name}: {claim:?}");
    assert!(claim.estimator.starts_with(model::NAME), "{name}: {claim:?}");
}

fn same(problem: Problem, name: &str) {
    let data: Value = serde_json::from_str(include_str!("../../../tools/security/claims.json")).unwrap();
    let (numbers, _) = point(&data, name);
    assert_eq!(numbers["n"], problem.dimension, "{name}");
    assert!((numbers["log_q"].as_f64().unwrap() - problem.log2_modulus).abs() < 0.01, "{name}: {problem:?}");
    assert_eq!(numbers["noise"], problem.noise, "{name}");
}

#[test]
fn claims_of_lwe_are_those_of_the_estimator() {
    for name in lwe::Params::names().into_iter().chain(fresh::Params::names()).filter(|name| name.contains("secure")) {
        let params = lwe::Params::named(name).unwrap();
        let [key, message] = ["key", "message"].map(|what| format!("lwe {name}, {what}"));
        same(params.fresh().key_problem(), &key);
        same(params.fresh().message_problem().unwrap(), &message);
        compare(name, &params.security(), &[&key, &message]);
    }
    compare("private reads", &pir::security(), &["lwe private reads, query"]);
}

/// The estimator does not cover all attacks on NTRU, so the claim counts one call of the sieve alone. `tools/ntru/estimate.py` finds its blocks.
#[test]
fn claims_of_ntru_are_those_of_the_table_and_above_128_bits_by_the_lower_estimate_too() {
    let data: Value = serde_json::from_str(include_str!("../../../tools/security/claims.json")).unwrap();
    for name in ntru::Params::names().into_iter().filter(|name| name.starts_with("secure")) {
        let params = ntru::Params::named(name).unwrap();
        let (claim, core_svp) = (params.security(), params.estimate().0.core_svp_bits());
        let key = format!("ntru {name}, key");
        let (numbers, least) = point(&data, &key);
        assert_eq!(numbers["n"], params.dimension(), "{name}");
        let log2_modulus = params.log2_modulus(params.fresh_level());
        assert!((numbers["log_q"].as_f64().unwrap() - log2_modulus).abs() < 0.06, "{name}: {log2_modulus}");
        for (bits, kind) in [(claim.classical_bits, "classical"), (claim.quantum_bits, "quantum")] {
            assert!((least(kind) - bits).abs() < 1.0, "{name}, {kind}: {bits}, and {} in the table", least(kind));
        }
        assert!(claim.classical_bits > core_svp && core_svp >= 128.0, "{name}: {claim:?}, {core_svp}");
        assert!(claim.status == Status::Recommended && claim.estimator.starts_with(model::NAME), "{name}: {claim:?}");
    }
}

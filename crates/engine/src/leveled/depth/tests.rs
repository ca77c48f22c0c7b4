//! Tests that the levels and sets that an error names are enough.

#[path = "../../../../circuits/tests/common/programs.rs"]
mod programs;

use super::super::plan::{self, Known, PlanContext};
use crate::arithmetic::Arrays;
use crate::{Error, Program, Type};
use rand_core::RngCore;
use solinas_circuits::program::{Op, ProgramBuilder};
use solinas_schemes::bgv::{Bgv, Params};
use solinas_schemes::leveled::{NoiseModel, State};

const P: u32 = 65537;

/// Plans a program for a BGV set on fresh inputs. `public` tells which of them are public.
fn planned(program: &Program, set: &str, public: &[bool]) -> Result<(), Error> {
    let params = Params::named(set)?;
    let state = State { level: params.fresh_level(), noise: params.fresh_noise() };
    let input = |&public: &bool| Known { state, log2_norm: public.then_some(f64::from(P).log2()) };
    let inputs: Vec<Known> = public.iter().map(input).collect();
    let context = PlanContext::<Bgv> { params: &params, inputs: &inputs, bootstrap: None, rotates: true };
    let arrays = Arrays { elements: 128, inputs: &[] };
    plan::program(program, &context, arrays, &Default::default()).map(drop)
}

/// The number of products that the error states, if there is an error.
fn need(result: &Result<(), Error>) -> Option<usize> {
    match result {
        Err(Error::Levels { need, .. }) => Some(*need),
        Err(error) => panic!("{error}"),
        Ok(()) => None,
    }
}

/// `x` to the fourth, times `(w * 3 + 5)` to the fourth where `w` is public.
fn fourths() -> Program {
    let mut builder = ProgramBuilder::new();
    let ty = Type::Mod(P);
    let [x, w] = ["x", "w"].map(|name| builder.input(name, ty).unwrap());
    let [three, five] = [3, 5].map(|value| builder.constant(value, ty).unwrap());
    let scaled = builder.op(Op::Mul, &[w, three]).unwrap();
    let w = builder.op(Op::Add, &[scaled, five]).unwrap();
    let mut product = x;
    for factor in [w, x, w] {
        product = builder.op(Op::Mul, &[product, factor]).unwrap();
    }
    builder.output("y", product);
    builder.finish().unwrap()
}

#[test]
fn what_is_made_from_a_public_input_is_a_ciphertext() {
    let (program, public) = (fourths(), [false, true]);
    let refused = planned(&program, "slots-128-1", &public);
    assert_eq!(need(&refused), Some(3));
    assert!(refused.unwrap_err().to_string().contains("takes 3 products in a row"));
    assert_eq!(need(&planned(&program, "slots-128-2", &public)), Some(3));
    assert_eq!(need(&planned(&program, "slots-128-3", &public)), None);
}

#[test]
fn the_set_that_an_error_names_takes_the_program() {
    let (mut refused, mut by_noise) = (0, 0);
    for seed in 0..1800 {
        let mut rng = programs::rng(seed);
        let program = programs::modular(&mut rng, P, 10, 6).unwrap();
        let public: Vec<bool> = program.inputs.iter().map(|_| rng.next_u32().is_multiple_of(2)).collect();
        let Err(error) = planned(&program, "slots-128-1", &public) else { continue };
        let Error::Levels { need, keys, .. } = error else { panic!("seed {seed}: {error}") };
        let Some(name) = keys.split([' ', ',']).find(|word| word.starts_with("slots128-")) else { continue };
        let listing = programs::listing(&program);
        assert!(planned(&program, name, &public).is_ok(), "seed {seed}: {name}{listing}");
        refused += 1;
        by_noise += usize::from(Params::deep_enough(P.into(), need.max(2)) != Some(name));
    }
    assert!(refused > 100 && by_noise > 10, "{refused} {by_noise}");
}

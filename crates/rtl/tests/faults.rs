//! Single faults in the sources: every one must be found by a bench. Each fault is a model of its own.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::tools;

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use solinas_bigint::{Montgomery, Natural};
use solinas_rtl::multiplier::{self, Multiplier, Part, Size};
use solinas_rtl::stored::{self, Kernels, StoredMultiplier};
use solinas_rtl::{Error, Timing, gh, rsa};
use solinas_schemes::gh::{
    Arithmetic, Ciphertext, ClientKey, EncryptMethod, Encryptor, Evaluator, Noise, Params, RecryptMethod, noise,
};
use solinas_schemes::{Control, Entropy};

/// The source, what it says, and the fault.
type Fault = (&'static str, &'static str, &'static str);

/// Cycles after which a circuit counts as hanging: several times those of a bench without a fault.
const LIMIT: u64 = 400_000;

/// Whether all results of a design with this fault are right.
type Bench = fn(Option<Fault>) -> Result<bool, Error>;

/// Faults that products find.
const PRODUCTS: &[Fault] = &[
    ("common/sol_norm.sv", "above ? 64'h0000_0000_FFFF_FFFF", "(above & below) ? 64'h0000_0000_FFFF_FFFF"),
    ("common/sol_norm.sv", "below ? 64'hFFFF_FFFF_0000_0001", "(above & below) ? 64'hFFFF_FFFF_0000_0001"),
    ("common/sol_canon.sv", "d[64] ? d[63:0] : x_i", "d[64] ? x_i : {d[63:0] | x_i} & x_i"),
    ("common/sol_fold192.sv", "$signed({4'b0, b, c})", "$signed({4'b0, c, b})"),
    ("common/sol_mulrot.sv", "8'd3", "8'd2"),
    ("common/sol_mulrot.sv", "65'(mm2 - {2'b0, ll2} - {2'b0, hh2})", "{1'b0, 64'(mm2 - {2'b0, ll2} - {2'b0, hh2})}"),
    ("common/sol_dft16.sv", "66'h1_FFFF_FFFE_0000_0002", "66'h0_0000_0000_0000_0000"),
    ("common/sol_dft16.sv", "(12 * n * k) % 192", "(12 * n * k + 1) % 192"),
    ("common/sol_kernel_d.sv", "l == 0 ? -out_step : ~out_step", "l == 1 ? -out_step : ~out_step"),
    ("common/sol_kernel_d.sv", ".STEP(96)", ".STEP(48)"),
    ("common/sol_kernel_d.sv", ".STEP(144)", ".STEP(48)"),
    ("common/sol_kernel_s.sv", "x0 <= x_i[l]", "x0 <= x_i[(l + 1) % 16]"),
    ("common/sol_kernel_s.sv", "192 - SCALE", "191 - SCALE"),
    ("common/sol_carry.sv", "41'b0 : back4", "41'b0 : back3 | (back4 & back3)"),
    ("common/sol_carry.sv", "first2 ? 41'b0", "(first1 | first2 & 1'b0) ? 41'b0"),
    ("common/sol_twiddle.sv", "e_i[l][15:10]", "{e_i[l][14:10], e_i[l][15]}"),
    ("common/sol_xnet.sv", "4'(i) ^ sel_i", "4'(i) + sel_i"),
    ("common/sol_bank.sv", "words[ra_i]", "words[ra_i ^ 1]"),
    ("multiplier/sol_mul_pkg.sv", "x[3:0] ^ {3'b0, x[4]}", "x[3:0] ^ {4'b0 & {4{x[4]}}}"),
    ("multiplier/sol_mul_pkg.sv", "AT_WRITE_B - AT_WRITE :", "AT_WRITE_B - AT_WRITE - 1 :"),
    ("multiplier/sol_mul_unload.sv", "385'(ripple & !first[DELAY])", "385'(ripple & first[DELAY])"),
    ("multiplier/sol_mul_unload.sv", "head[DELAY] & segment[DELAY] != '0", "head[DELAY] & segment[DELAY] == '0"),
    ("multiplier/sol_mul_loader.sv", "use_q <= after(use_q)", "use_q <= use_q"),
    ("multiplier/sol_mul_addresses.sv", "array_b(read_i.round, rc[0])", "array_b(1'b0, rc[0])"),
    ("multiplier/sol_mul_control.sv", "wire clear = ", "wire clear = 1'b1 | "),
    ("multiplier/sol_multiplier.sv", "at_kernel.round ? rotated[l]", "!at_kernel.round ? rotated[l]"),
];

/// Faults that the primitives of Gentry and Halevi's scheme find.
const PRIMITIVES: &[Fault] = &[
    ("gh/sol_gh_sum.sv", "(OVER-1)'(word_tag.negative)", "(OVER-1)'(word_tag.negative & first_word)"),
    ("gh/sol_gh_sum.sv", "one_beat == '0 ? '0 : carry[one_output]", "one_beat == '0 ? '0 : carry[0]"),
    ("gh/sol_gh_sink.sv", "- (BEAT+1)'(carry)", "- (BEAT+1)'(carry & 1'b0)"),
    ("gh/sol_gh_sink.sv", "{1'b0, data_i} + (BEAT+1)'(carry)", "{1'b0, data_i} + (BEAT+1)'(carry & 1'b0)"),
    ("gh/sol_gh_sink.sv", ">> shift_i.bits", ">> (shift_i.bits + 9'd1)"),
    ("gh/sol_gh_candidates.sv", "+ {4'b0, fraction[0]}", "+ {4'b0, fraction[0] & 1'b0}"),
    ("gh/sol_gh_candidates.sv", "- 13'(borrow)", "- 13'(borrow & 1'b0)"),
    ("gh/sol_gh_compare.sv", "greater_o <= high > rdata_i", "greater_o <= high < rdata_i"),
    ("gh/sol_gh_sequencer.sv", "flying <= 3'(now.flying)", "flying <= 3'd3"),
    ("gh/sol_gh_registers.sv", "assign start_o = command & !busy_i", "assign start_o = command & busy_i"),
];

/// Faults that powers find.
const POWERS: &[Fault] = &[
    ("common/sol_mulrot.sv", "SUBTRACT ? s - $signed({4'b0, c_i}) : s", "s"),
    ("common/sol_mulrot.sv", "mm2 - {2'b0, ll2} - {2'b0, hh2}", "mm2 - {2'b0, ll2} - {2'b0, ll2}"),
    ("rsa/sol_rsa_pkg.sv", "{row[2], row[1] ^ row[4], row[0] ^ row[3]}", "{row[2], row[1] ^ row[3], row[0] ^ row[4]}"),
    ("rsa/sol_rsa_pkg.sv", "result = i < 16 ? 64'd1 : 64'd2", "result = i < 17 ? 64'd1 : 64'd2"),
    ("rsa/sol_rsa_twist.sv", "negative ? low + 32'd1 : low", "negative & !minus_one ? low + 32'd1 : low"),
    ("rsa/sol_rsa_twist.sv", "{step_i[0], 1'b0} : step_i", "{step_i[1], step_i[0]} : step_i"),
    ("rsa/sol_rsa_untwist.sv", ".STEP(144)", ".STEP(168)"),
    ("rsa/sol_rsa_carry.sv", "if (valid[2] & column[2] == '0)", "if (valid[2] | column[2] == '0)"),
    ("rsa/sol_rsa_carry.sv", "wraps ? half - unit", "wraps ? half + unit"),
    ("rsa/sol_rsa_local.sv", "first_i & negate ? -one : one", "first_i & negate ? one : one"),
    (
        "rsa/sol_rsa_thread.sv",
        "4 * (FILL + 2) + AT_TWIST32 + TO_CARRY + LAT_LOCAL - 2",
        "4 * (FILL + 2) + AT_TWIST32 + TO_CARRY + LAT_LOCAL - 3",
    ),
    (
        "rsa/sol_rsa_thread.sv",
        "59 + AT_MUL32 + TO_S + TO_BANK - AT_READ - 2",
        "58 + AT_MUL32 + TO_S + TO_BANK - AT_READ - 2",
    ),
    ("rsa/sol_rsa_thread.sv", "8'(SECOND + 59)", "8'(SECOND + 58)"),
    ("rsa/sol_rsa_thread.sv", "8'(SECOND + 29)", "8'(SECOND + 28)"),
    ("rsa/sol_rsa_thread.sv", "29 + AT_MUL16", "28 + AT_MUL16"),
    ("rsa/sol_rsa_thread.sv", "g_late <= kind == TABLE & entry == 4'd1", "g_late <= 1'b0"),
    ("rsa/sol_rsa_scheduler.sv", "is_first(a_next.pass) ? 7'd65 : 7'd63", "7'd63"),
    ("rsa/sol_rsa_exponent.sv", "windows <= 5'd16", "windows <= 5'd15"),
    ("rsa/sol_rsa_finish.sv", "scan inside {2'd1, 2'd2} & sign[1]", "scan == 2'd1 & sign[1]"),
    ("rsa/sol_rsa_control.sv", "!is_one ? E_INVERSE", "1'b0 ? E_INVERSE"),
];

/// Whether the products of a changed multiplier are right.
fn multiplies(fault: Option<Fault>) -> Result<bool, Error> {
    let mut design = multiplier::design(Size::Small)?;
    if let Some((file, from, to)) = fault {
        design = design.replaced(file, from, to)?;
    }
    let bits = Size::Small.bits();
    let one = Natural::one();
    let ones = |bits: usize| (&one << bits).checked_sub(&one).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(30);
    let mut cases = vec![
        (ones(bits), ones(bits)),
        (ones(bits / 2 + 17), &(&one << (bits / 2 - 20)) + &one),
        (ones(bits), &one << (bits - 1)),
        (one.clone(), one.clone()),
    ];
    cases.extend((0..24).map(|_| (Natural::random_bits(bits, &mut rng), Natural::random_bits(bits, &mut rng))));
    let operands: Vec<_> = cases.iter().map(|(a, b)| (a, b)).collect();
    for stalls in [0, 90] {
        let timing = Timing { latency: 7, stalls };
        let mut multiplier = Multiplier::of_design(&design, Size::Small, timing, &mut |_| {})?;
        multiplier.set_limit(LIMIT);
        let products = multiplier.multiply(&operands, Part::All)?;
        if cases.iter().zip(&products).any(|((a, b), product)| product.value != a * b) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the primitives of a changed accelerator are right.
fn computes(fault: Option<Fault>) -> Result<bool, Error> {
    let params = Params::named("ci-7").unwrap();
    let client = ClientKey::generate(&params, true, Entropy::Insecure(1), &Control::default()).unwrap();
    let server = client.server_key(&Control::default()).unwrap();
    let public = server.public();
    let mut design = gh::design(gh::Accelerator::size(public)?)?;
    if let Some((file, from, to)) = fault {
        design = design.replaced(file, from, to)?;
    }
    let memory = 1 << 30;
    let timing = Timing { latency: 9, stalls: 30 };
    let mut accelerator = gh::Accelerator::of_design(&design, public, timing, &mut |_| {})?;
    accelerator.set_limit(LIMIT);
    let encryptor = Encryptor::new(public, EncryptMethod::Table, memory, Arithmetic::default()).unwrap();
    let evaluator = Evaluator::new(&server, RecryptMethod::PairTable, memory, Arithmetic::default()).unwrap();
    accelerator.load_powers(&encryptor)?;
    accelerator.load_server_key(&server, &evaluator)?;
    let natural = |ciphertext: &Ciphertext| Natural::from_words(ciphertext.words().to_vec());
    for i in 0..3 {
        let want = encryptor.encrypt(i % 2 == 1, &mut public.encryption_rng(Some(i)).unwrap()).unwrap();
        let noise = Noise::draw(public.params(), &mut public.encryption_rng(Some(i)).unwrap());
        let (ciphertext, _) = accelerator.encrypt(i % 2 == 1, &noise)?;
        if ciphertext != natural(&want) || accelerator.decrypt(&client, &ciphertext)?.0 != (i % 2 == 1) {
            return Ok(false);
        }
        let ciphertext = Ciphertext::from_parts(public, want.words().to_vec(), noise::fresh(&params)).unwrap();
        let recrypted = evaluator.recrypt(&ciphertext).unwrap();
        if accelerator.recrypt(&natural(&ciphertext))?.0 != Some(natural(&recrypted)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the powers of a changed exponentiator are right, and a wrong constant of its key is refused.
fn exponentiates(fault: Option<Fault>) -> Result<bool, Error> {
    let mut design = rsa::design(rsa::Size::Bits8192)?;
    if let Some((file, from, to)) = fault {
        design = design.replaced(file, from, to)?;
    }
    let mut exponentiator =
        rsa::Exponentiator::of_design(&design, rsa::Size::Bits8192, Timing::default(), &mut |_| {})?;
    exponentiator.set_limit(LIMIT);
    let ones = |bits: usize| (&Natural::one() << bits).checked_sub(&Natural::one()).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(31);
    // Moduli that share no factor with 2^n - 1.
    let mut modulus = |bits: usize| loop {
        let n = &(&Natural::one() << (bits - 1)) + &Natural::random_bits(bits - 2, &mut rng);
        if n.words()[0] % 2 == 1 && [8704, 4352].iter().all(|ring| n.vartime_gcd(&ones(*ring)).is_one()) {
            break n;
        }
    };
    let (whole, p, q) = (modulus(8192), modulus(4096), modulus(4000));
    let exponents =
        [0xfedc_ba98_7654_3210, 1, 0x1111_2222_3333_4444, u64::MAX].map(|word| Natural::from_words(vec![word]));
    for (i, moduli) in [vec![&whole], vec![&p, &q], vec![&p], vec![&whole]].into_iter().enumerate() {
        let exponent = &exponents[i];
        let bases: Vec<Natural> =
            moduli.iter().map(|n| n.checked_sub(&Natural::from_words(vec![2 + i as u64])).unwrap()).collect();
        let tasks: Vec<_> = moduli
            .iter()
            .zip(&bases)
            .map(|(modulus, base)| rsa::Task { modulus, exponent, exponent_bits: 64, base })
            .collect();
        let powers = exponentiator.powers(&tasks)?;
        for ((modulus, base), value) in moduli.iter().zip(&bases).zip(&powers.values) {
            if *value != Montgomery::new(modulus).unwrap().vartime_pow(base, exponent) {
                return Ok(false);
            }
        }
    }
    // 1/N of another modulus.
    Ok(exponentiator.load_key(&p, &q).is_err())
}

/// Faults that products by stored transforms find.
const STORED: &[Fault] = &[
    ("stored/sol_sto_carry.sv", "first[3] ? 41'b0 : carry", "first[3] & odd4 ? 41'b0 : carry"),
    ("stored/sol_sto_carry.sv", ".wa_i(segment4)", ".wa_i({segment4[0], segment4[1]})"),
    (
        "stored/sol_sto_pkg.sv",
        "return big | !round ? AT_WRITE_S - AT_WRITE",
        "return big | !round ? AT_WRITE_S - AT_WRITE - 2",
    ),
    ("stored/sol_sto_control.sv", "!store_ready_i & op != OP_SQUARE", "!store_ready_i & op == OP_SQUARE"),
    ("stored/sol_sto_control.sv", "12'd4 : 12'd2", "12'd2 : 12'd2"),
    ("stored/sol_sto_carry.sv", "c0 <= c0_i", "c0 <= c0_i ^ c1_i"),
    ("stored/sol_stored.sv", "read_array_q | 2'(k)", "read_array_q"),
    ("stored/sol_stored.sv", "ahead.count[1] = 1'b1", "ahead.count[1] = 1'b0"),
    ("stored/sol_stored.sv", "memory[unload_upper_q ? 2 : 0]", "memory[unload_upper_q ? 3 : 0]"),
    ("stored/sol_stored.sv", "digit3[k][l]", "digit3[KERNELS - 1 - k][l]"),
    ("multiplier/sol_mul_loader.sv", "KERNELS*i + k", "16*k + i"),
    ("stored/sol_sto_twiddles.sv", "half[l % 2][i_q[l][4:1]]", "half[l % 2][i_q[(l + 2) % 16][4:1]]"),
    ("stored/sol_sto_addresses.sv", "4'b1 << {pc[1], 1'b0}", "4'b1 << {1'b0, pc[1]}"),
    ("stored/sol_stored.sv", "middle ? 6'd0 : rot[0][l]", "rot[0][l]"),
    ("stored/sol_stored.sv", "KERNELS == 2 | pipe[AT_RESULT].count[2]", "KERNELS == 2 | pipe[AT_RESULT].count[1]"),
];

/// Whether products by stored transforms are right on a changed multiplier, with one kernel and with two.
fn multiplies_by_stored(fault: Option<Fault>) -> Result<bool, Error> {
    Ok(multiplies_with(fault, Kernels::One)? && multiplies_with(fault, Kernels::Two)?)
}

fn multiplies_with(fault: Option<Fault>, kernels: Kernels) -> Result<bool, Error> {
    let mut design = stored::design(Size::Small, kernels)?;
    if let Some((file, from, to)) = fault {
        design = design.replaced(file, from, to)?;
    }
    let bits = Size::Small.bits();
    let ones = |bits: usize| (&Natural::one() << bits).checked_sub(&Natural::one()).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(32);
    let mut cases = vec![(ones(bits), ones(bits)), (ones(bits), &Natural::one() << (bits - 1))];
    cases.extend((0..6).map(|_| (Natural::random_bits(bits, &mut rng), Natural::random_bits(bits, &mut rng))));
    for stalls in [0, 90] {
        let timing = Timing { latency: 7, stalls };
        let mut multiplier = StoredMultiplier::of_design(&design, Size::Small, kernels, timing, &mut |_| {})?;
        multiplier.set_limit(LIMIT);
        for (a, b) in &cases {
            let spectrum = multiplier.transform(b)?;
            if multiplier.multiply(a, &spectrum)?.value != a * b || multiplier.square(a)?.value != a * a {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Runs a bench on the circuit without a fault, then with each of the faults.
fn every_fault_is_found(faults: &[Fault], bench: Bench) {
    let Some(right) = tools::or_skip(bench(None)) else { return };
    assert!(right, "without a fault");
    let mut missed = Vec::new();
    for (i, fault) in faults.iter().enumerate() {
        let outcome = match bench(Some(*fault)) {
            Ok(true) => "MISSED",
            Ok(false) => "caught: a result is wrong",
            Err(Error::Stuck { .. }) => "caught: the circuit hangs",
            Err(Error::Refused { .. }) => "caught: the circuit reports an error",
            Err(error) => panic!("{fault:?}: {error}"),
        };
        println!("fault {:2} {:<34} {:<48} {outcome}", i + 1, fault.0, fault.2);
        if outcome == "MISSED" {
            missed.push(fault);
        }
    }
    println!("{} faults: {} caught, {} missed", faults.len(), faults.len() - missed.len(), missed.len());
    assert!(missed.is_empty(), "{missed:?}");
}

// `make rtl` runs these tests. They compile more than sixty models, one or two for each fault.
#[test]
#[ignore = "builds a model for each fault, for minutes"]
fn products_find_every_fault() {
    every_fault_is_found(PRODUCTS, multiplies);
}

// `make rtl` runs this test.
#[test]
#[ignore = "builds a model for each fault, for minutes"]
fn primitives_find_every_fault() {
    every_fault_is_found(PRIMITIVES, computes);
}

// `make rtl` runs this test.
#[test]
#[ignore = "builds a model for each fault, for minutes"]
fn powers_find_every_fault() {
    every_fault_is_found(POWERS, exponentiates);
}

// `make rtl` runs this test.
#[test]
#[ignore = "builds two models for each fault, for minutes"]
fn products_by_stored_transforms_find_every_fault() {
    every_fault_is_found(STORED, multiplies_by_stored);
}

#[test]
fn every_fault_is_one_of_the_sources() {
    for (file, from, to) in [PRODUCTS, PRIMITIVES, POWERS, STORED].concat() {
        let design = match file.split('/').next() {
            Some("rsa") => rsa::design(rsa::Size::Bits8192),
            Some("gh") => gh::design(Size::Small),
            _ => stored::design(Size::Small, Kernels::One),
        };
        assert_ne!(from, to);
        assert!(design.unwrap().replaced(file, from, to).is_ok(), "{file}: {from}");
    }
}

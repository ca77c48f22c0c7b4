//! Powers with exponents as long as the modulus, beside GMP and OpenSSL, in one process: CPU time, the least of several runs.
//!
//! `cargo run --release -p solinas-bigint --example powers [bits ...]`

use std::ffi::c_void;

use clap::Parser;
use cpu_time::ThreadTime;
use libloading::{Library, Symbol};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use solinas_bigint::{Montgomery, Natural};
use solinas_field::Backend;
use solinas_field::limbs::Multiplier;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Milliseconds that this thread runs in one call, the least of several: others on the machine do not count.
fn time(mut f: impl FnMut()) -> f64 {
    let mut one = || {
        let start = ThreadTime::now();
        f();
        start.elapsed().as_secs_f64() * 1e3
    };
    let first = one();
    (0..(600.0 / first).clamp(4.0, 100.0) as usize).map(|_| one()).fold(first, f64::min)
}

fn number(bits: usize, seed: u64) -> Natural {
    let words = ChaCha8Rng::seed_from_u64(seed).random_iter().take(bits.div_ceil(64));
    let mut number = Natural::from_words(words.collect::<Vec<_>>()).low_bits(bits);
    number.set_bit(bits - 1);
    number.set_bit(0);
    number
}

/// OpenSSL's constant-time exponentiation.
struct OpenSsl(Library);

impl OpenSsl {
    fn pow(&self, base: &Natural, exponent: &Natural, modulus: &Natural) -> Result<(f64, Natural)> {
        type P = *mut c_void;
        macro_rules! function {
            ($name:literal, fn($($arg:ty),*) $(-> $out:ty)?) => {
                // SAFETY: the symbol has this type in OpenSSL's headers.
                unsafe { self.0.get::<unsafe extern "C" fn($($arg),*) $(-> $out)?>($name)? }
            };
        }
        let new = function!(b"BN_new", fn() -> P);
        let read = function!(b"BN_lebin2bn", fn(*const u8, i32, P) -> P);
        let write = function!(b"BN_bn2lebinpad", fn(P, *mut u8, i32) -> i32);
        let context = function!(b"BN_CTX_new", fn() -> P);
        let montgomery = function!(b"BN_MONT_CTX_new", fn() -> P);
        let set = function!(b"BN_MONT_CTX_set", fn(P, P, P) -> i32);
        let flags = function!(b"BN_set_flags", fn(P, i32));
        let pow = function!(b"BN_mod_exp_mont_consttime", fn(P, P, P, P, P, P) -> i32);
        let bignum = |x: &Natural| {
            let bytes = x.to_le_bytes();
            // SAFETY: the pointer and the length are of one slice.
            unsafe { read(bytes.as_ptr(), bytes.len() as i32, std::ptr::null_mut()) }
        };
        let (base, exponent, m) = (bignum(base), bignum(exponent), bignum(modulus));
        let mut bytes = vec![0; modulus.bit_len().div_ceil(8)];
        // SAFETY: all are objects of OpenSSL's; the process ends soon, so that they are not given back.
        let least = unsafe {
            let (out, context, montgomery) = (new(), context(), montgomery());
            set(montgomery, m, context);
            flags(exponent, 4); // BN_FLG_CONSTTIME
            let least = time(|| {
                pow(out, base, exponent, m, context, montgomery);
            });
            write(out, bytes.as_mut_ptr(), bytes.len() as i32);
            least
        };
        Ok((least, Natural::from_le_bytes(&bytes)))
    }
}

/// GMP's integer.
#[repr(C)]
struct Mpz {
    alloc: i32,
    size: i32,
    words: *mut u64,
}

fn gmp_pow(gmp: &Library, name: &[u8], base: &Natural, exponent: &Natural, modulus: &Natural) -> Result<f64> {
    // SAFETY: the symbols have these types in GMP's manual.
    let (init, pow): (
        Symbol<unsafe extern "C" fn(*mut Mpz)>,
        Symbol<unsafe extern "C" fn(*mut Mpz, *const Mpz, *const Mpz, *const Mpz)>,
    ) = unsafe { (gmp.get(b"__gmpz_init")?, gmp.get(name)?) };
    let mut words = [base, exponent, modulus].map(|x| x.words().to_vec());
    let operands = words.each_mut().map(|w| Mpz { alloc: w.len() as i32, size: w.len() as i32, words: w.as_mut_ptr() });
    let mut out = Mpz { alloc: 0, size: 0, words: std::ptr::null_mut() };
    // SAFETY: GMP reads its operands only, and fills `out`, which it allocates.
    unsafe {
        init(&mut out);
        Ok(time(|| pow(&mut out, &operands[0], &operands[1], &operands[2])))
    }
}

/// Times powers beside GMP and OpenSSL.
#[derive(Parser)]
struct Args {
    /// Bits of the moduli
    #[arg(default_values_t = [1024, 1536, 2048, 3072, 4096, 6144, 8192, 12_288])]
    bits: Vec<usize>,
}

fn main() -> Result<()> {
    let sizes = Args::parse();
    // SAFETY: loading these runs no code that could interfere with this process.
    let (gmp, openssl) = unsafe { (Library::new("libgmp.so.10")?, OpenSsl(Library::new("libcrypto.so.3")?)) };
    let mut all: Vec<_> = Backend::available().into_iter().flat_map(Multiplier::available).collect();
    all.sort_by_key(|m| ["portable", "adx", "fma", "fma512", "ifma"].iter().position(|&name| name == m.name()));
    all.dedup();

    print!("{:>6} {:>9} {:>9} {:>9}", "bits", "gmp", "gmp sec", "openssl");
    all.iter().for_each(|m| print!(" {:>9}", m.name()));
    println!("   milliseconds; then OpenSSL's time over ours");
    for bits in sizes.bits {
        let (base, exponent, modulus) = (number(bits - 1, 1), number(bits, 2), number(bits, 3));
        let gmp_time = gmp_pow(&gmp, b"__gmpz_powm", &base, &exponent, &modulus)?;
        let sec_time = gmp_pow(&gmp, b"__gmpz_powm_sec", &base, &exponent, &modulus)?;
        let (openssl_time, expected) = openssl.pow(&base, &exponent, &modulus)?;
        print!("{bits:>6} {gmp_time:>9.3} {sec_time:>9.3} {openssl_time:>9.3}");
        let mut ratios = String::new();
        for &multiplier in &all {
            let plan = Montgomery::with_multiplier(&modulus, multiplier)?;
            let mut power = Natural::ZERO;
            let least = time(|| power = plan.pow(&base, &exponent));
            assert_eq!(power, expected, "OpenSSL's power and ours, {bits} bits on {}", multiplier.name());
            print!(" {least:>9.3}");
            ratios += &format!(" {:>5.2}", openssl_time / least);
        }
        println!("  {ratios}");
    }
    Ok(())
}

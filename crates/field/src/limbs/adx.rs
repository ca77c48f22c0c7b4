//! Products by `mulx` with two carry chains (`adcx`, `adox`), in blocks of 8 by 8 words.
//!
//! A block keeps 8 words of the sum in registers while 8 rows pass. Row k adds `a[0..8] * b[k]` and stores the lowest
//! word, which is final. Bound: `mulx` runs once a cycle, 64 cycles a block. A row is 37 micro-operations, 6.2 cycles
//! at 6 a cycle, so the multiplier is the bound. Measured figures: `docs/derivations/montgomery.md`.

use super::BLOCK;
use super::unit::Adx;
use core::arch::naked_asm;

/// One row. The register named first holds the lowest word, and in the end the highest. In: rdx multiplier, rsi a, rdi
/// sum, rbp zero. Clobbered: rax, rcx.
macro_rules! row {
    ($k:literal, $r0:literal, $r1:literal, $r2:literal, $r3:literal, $r4:literal, $r5:literal, $r6:literal, $r7:literal) => {
        concat!(
            "xor eax, eax\n",
            "adox ",
            $r0,
            ", [rdi + 8*",
            $k,
            "]\n",
            "mulx rcx, rax, [rsi]\n",
            "adcx ",
            $r0,
            ", rax\n",
            "adox ",
            $r1,
            ", rcx\n",
            "mov [rdi + 8*",
            $k,
            "], ",
            $r0,
            "\n",
            "mulx rcx, rax, [rsi + 8]\n",
            "adcx ",
            $r1,
            ", rax\n",
            "adox ",
            $r2,
            ", rcx\n",
            "mulx rcx, rax, [rsi + 16]\n",
            "adcx ",
            $r2,
            ", rax\n",
            "adox ",
            $r3,
            ", rcx\n",
            "mulx rcx, rax, [rsi + 24]\n",
            "adcx ",
            $r3,
            ", rax\n",
            "adox ",
            $r4,
            ", rcx\n",
            "mulx rcx, rax, [rsi + 32]\n",
            "adcx ",
            $r4,
            ", rax\n",
            "adox ",
            $r5,
            ", rcx\n",
            "mulx rcx, rax, [rsi + 40]\n",
            "adcx ",
            $r5,
            ", rax\n",
            "adox ",
            $r6,
            ", rcx\n",
            "mulx rcx, rax, [rsi + 48]\n",
            "adcx ",
            $r6,
            ", rax\n",
            "adox ",
            $r7,
            ", rcx\n",
            "mulx ",
            $r0,
            ", rax, [rsi + 56]\n",
            "adcx ",
            $r7,
            ", rax\n",
            "adox ",
            $r0,
            ", rbp\n",
            "adcx ",
            $r0,
            ", rbp\n",
        )
    };
}

/// Eight rows. `$first` computes the multiplier before each row.
macro_rules! eight_rows {
    ($first:ident) => {
        concat!(
            $first!("0", "r8"),
            row!("0", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"),
            $first!("1", "r9"),
            row!("1", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "r8"),
            $first!("2", "r10"),
            row!("2", "r10", "r11", "r12", "r13", "r14", "r15", "r8", "r9"),
            $first!("3", "r11"),
            row!("3", "r11", "r12", "r13", "r14", "r15", "r8", "r9", "r10"),
            $first!("4", "r12"),
            row!("4", "r12", "r13", "r14", "r15", "r8", "r9", "r10", "r11"),
            $first!("5", "r13"),
            row!("5", "r13", "r14", "r15", "r8", "r9", "r10", "r11", "r12"),
            $first!("6", "r14"),
            row!("6", "r14", "r15", "r8", "r9", "r10", "r11", "r12", "r13"),
            $first!("7", "r15"),
            row!("7", "r15", "r8", "r9", "r10", "r11", "r12", "r13", "r14"),
        )
    };
}

/// The multiplier is word k of b, at rbx.
macro_rules! given {
    ($k:literal, $r0:literal) => {
        concat!("mov rdx, [rbx + 8*", $k, "]\n")
    };
}

/// The multiplier is -1/m times the lowest word of the sum, which makes that word zero. It is kept on the stack.
macro_rules! quotient {
    ($k:literal, $r0:literal) => {
        concat!(
            "mov rdx, ",
            $r0,
            "\n",
            "add rdx, [rdi + 8*",
            $k,
            "]\n",
            "imul rdx, [rsp + 64]\n",
            "mov [rsp + 8*",
            $k,
            "], rdx\n",
        )
    };
}

macro_rules! save {
    () => {
        "push rbx\npush rbp\npush r12\npush r13\npush r14\npush r15\n"
    };
}
macro_rules! restore {
    () => {
        "pop r15\npop r14\npop r13\npop r12\npop rbp\npop rbx\nret\n"
    };
}
macro_rules! clear {
    () => {
        concat!(
            "xor ebp, ebp\n",
            "xor r8d, r8d\nxor r9d, r9d\nxor r10d, r10d\nxor r11d, r11d\n",
            "xor r12d, r12d\nxor r13d, r13d\nxor r14d, r14d\nxor r15d, r15d\n",
        )
    };
}
/// Stores the 8 words above the sum at the address in the register.
macro_rules! store {
    ($to:literal) => {
        concat!(
            "mov [",
            $to,
            "], r8\nmov [",
            $to,
            " + 8], r9\nmov [",
            $to,
            " + 16], r10\nmov [",
            $to,
            " + 24], r11\n",
            "mov [",
            $to,
            " + 32], r12\nmov [",
            $to,
            " + 40], r13\nmov [",
            $to,
            " + 48], r14\nmov [",
            $to,
            " + 56], r15\n",
        )
    };
}

/// `sum[0..8 blocks] <- sum + a * b[0..8]`; `sum[8 blocks..][..8] <-` the words above.
///
/// # Safety
/// BMI2 and ADX; `a` readable for 8 `blocks` words, `b` for 8, `sum` writable for 8 `blocks` + 8; `sum` apart from
/// both; blocks >= 1.
#[unsafe(naked)]
unsafe extern "sysv64" fn addmul_block_row(sum: *mut u64, a: *const u64, b: *const u64, blocks: usize) {
    naked_asm!(
        save!(),
        "mov rbx, rdx",
        "shl rcx, 6",
        "add rcx, rsi",
        "push rcx", // end of a
        clear!(),
        "2:",
        eight_rows!(given),
        "add rsi, 64",
        "add rdi, 64",
        "cmp rsi, [rsp]",
        "jne 2b",
        store!("rdi"),
        "pop rcx",
        restore!(),
    )
}

/// One step of the reduction by 8 words. It finds `q` of 8 words with `t + q m = 0` modulo 2^512 and adds `q m` to
/// `t[0..8 blocks]`. It puts the 8 words that belong to `t[8 blocks..][..8]` in place of `t[0..8]`, which is zero by
/// then.
///
/// # Safety
/// BMI2 and ADX; `m` readable for 8 `blocks` words, `t` writable for as many; blocks >= 1; `inverse = -1/m[0]` modulo
/// 2^64.
#[unsafe(naked)]
unsafe extern "sysv64" fn reduce_block_row(t: *mut u64, m: *const u64, inverse: u64, blocks: usize) {
    naked_asm!(
        save!(),
        "shl rcx, 6",
        "add rcx, rsi",
        "push rdi",
        "push rcx",
        "push rdx",
        "sub rsp, 64", // q; then inverse at 64, the end of m at 72, t at 80
        clear!(),
        eight_rows!(quotient),
        "mov rbx, rsp",
        "jmp 3f",
        "2:",
        eight_rows!(given),
        "3:",
        "add rsi, 64",
        "add rdi, 64",
        "cmp rsi, [rsp + 72]",
        "jne 2b",
        "mov rdi, [rsp + 80]",
        store!("rdi"),
        // q depends on secrets, so it is wiped.
        "mov [rsp], rbp\nmov [rsp + 8], rbp\nmov [rsp + 16], rbp\nmov [rsp + 24], rbp",
        "mov [rsp + 32], rbp\nmov [rsp + 40], rbp\nmov [rsp + 48], rbp\nmov [rsp + 56], rbp",
        "add rsp, 88",
        restore!(),
    )
}

/// One row of the pairs of different words in a block: word k times the words above it, into columns k + 1 + k and up.
/// The registers are named from the lowest of these columns; the last one is new. In: rsi a, rbp zero. Clobbered: rax,
/// rcx, rdx.
macro_rules! triangle_row {
    ($k:literal, [$($at:literal $low:literal $high:literal),*], $below_top:literal $top:literal) => {
        concat!(
            "mov rdx, [rsi + 8*", $k, "]\n",
            "xor eax, eax\n",
            $(
                "mulx rcx, rax, [rsi + 8*", $at, "]\n",
                "adcx ", $low, ", rax\n",
                "adox ", $high, ", rcx\n",
            )*
            "mulx ", $top, ", rax, [rsi + 56]\n",
            "adcx ", $below_top, ", rax\n",
            "adox ", $top, ", rbp\n",
            "adcx ", $top, ", rbp\n",
        )
    };
}

/// `out[16 i..][..16] <- 2 out + a[8 i..][..8]^2` for each block `i`, with the carries handed on. It is the last step
/// of a square.
///
/// # Safety
/// BMI2 and ADX; `a` readable for 8 `blocks` words, `out` writable for 16 `blocks`; apart; blocks >= 1.
#[unsafe(naked)]
unsafe extern "sysv64" fn square_blocks(out: *mut u64, a: *const u64, blocks: usize) {
    /// Columns 2 k + 1 and 2 k + 2 are complete after row k.
    macro_rules! keep {
        ($column:literal, $first:literal, $second:literal) => {
            concat!("mov [rsp + 8*", $column, "], ", $first, "\nmov [rsp + 8*", $column, " + 8], ", $second, "\n")
        };
    }
    /// out <- 2 (out + the pairs).
    macro_rules! twice {
        ($($column:literal)*) => {
            concat!($(
                "mov rax, [rdi + 8*", $column, "]\n",
                "adcx rax, [rsp + 8*", $column, "]\n",
                "adox rax, rax\n",
                "mov [rdi + 8*", $column, "], rax\n",
            )*)
        };
    }
    /// out <- out + the squares of the words.
    macro_rules! squares {
        ($($k:literal)*) => {
            concat!($(
                "mov rdx, [rsi + 8*", $k, "]\n",
                "mulx rcx, rax, rdx\n",
                "adc [rdi + 16*", $k, "], rax\n",
                "adc [rdi + 16*", $k, " + 8], rcx\n",
            )*)
        };
    }
    naked_asm!(
        save!(),
        "shl rdx, 6",
        "add rdx, rsi",
        "push rdx",     // end of a
        "sub rsp, 128", // the pairs of a block: 16 words; the first and the last stay zero
        "xor ebp, ebp",
        "xor ebx, ebx", // carry between blocks
        "mov [rsp], rbp",
        "mov [rsp + 120], rbp",
        "2:",
        // Word 0 with the others: columns 1 to 8.
        "mov rdx, [rsi]",
        "mulx r10, r9, [rsi + 8]",
        "mulx r11, rax, [rsi + 16]\nadd r10, rax",
        "mulx r12, rax, [rsi + 24]\nadc r11, rax",
        "mulx r13, rax, [rsi + 32]\nadc r12, rax",
        "mulx r14, rax, [rsi + 40]\nadc r13, rax",
        "mulx r15, rax, [rsi + 48]\nadc r14, rax",
        "mulx r8, rax, [rsi + 56]\nadc r15, rax\nadc r8, rbp",
        keep!("1", "r9", "r10"),
        triangle_row!("1", ["2" "r11" "r12", "3" "r12" "r13", "4" "r13" "r14", "5" "r14" "r15", "6" "r15" "r8"], "r8" "r9"),
        keep!("3", "r11", "r12"),
        triangle_row!("2", ["3" "r13" "r14", "4" "r14" "r15", "5" "r15" "r8", "6" "r8" "r9"], "r9" "r10"),
        keep!("5", "r13", "r14"),
        triangle_row!("3", ["4" "r15" "r8", "5" "r8" "r9", "6" "r9" "r10"], "r10" "r11"),
        keep!("7", "r15", "r8"),
        triangle_row!("4", ["5" "r9" "r10", "6" "r10" "r11"], "r11" "r12"),
        keep!("9", "r9", "r10"),
        triangle_row!("5", ["6" "r11" "r12"], "r12" "r13"),
        keep!("11", "r11", "r12"),
        triangle_row!("6", [], "r13" "r14"),
        keep!("13", "r13", "r14"),
        "xor eax, eax",
        twice!("0" "1" "2" "3" "4" "5" "6" "7" "8" "9" "10" "11" "12" "13" "14" "15"),
        // The part above the top: twice the first carry, and the second.
        "setc cl\nseto al\nmovzx ecx, cl\nmovzx eax, al",
        "lea r8, [rax + 2*rcx]",
        "mov rdx, [rsi]",
        "mulx rcx, rax, rdx",
        "add rax, rbx\nadc rcx, rbp",
        "add [rdi], rax\nadc [rdi + 8], rcx",
        squares!("1" "2" "3" "4" "5" "6" "7"),
        "adc r8, rbp",
        "mov rbx, r8",
        "add rsi, 64",
        "sub rdi, -128",
        "cmp rsi, [rsp + 128]",
        "jne 2b",
        "add rsp, 136",
        restore!(),
    )
}

/// sum[0..8 blocks] <- sum + a * w; returns the word above.
///
/// # Safety
/// BMI2 and ADX; `a` readable and `sum` writable for 8 `blocks` words; blocks >= 1.
#[unsafe(naked)]
unsafe extern "sysv64" fn addmul_word_blocks(sum: *mut u64, a: *const u64, w: u64, blocks: usize) -> u64 {
    macro_rules! step {
        ($k:literal, $below:literal, $above:literal) => {
            concat!(
                "mulx ",
                $above,
                ", rax, [rsi + 8*",
                $k,
                "]\n",
                "adcx rax, ",
                $below,
                "\n",
                "adox rax, [rdi + 8*",
                $k,
                "]\n",
                "mov [rdi + 8*",
                $k,
                "], rax\n",
            )
        };
    }
    naked_asm!(
        "xor r8d, r8d",
        "xor r10d, r10d",
        "2:",
        "xor eax, eax",
        step!("0", "r8", "r9"),
        step!("1", "r9", "r8"),
        step!("2", "r8", "r9"),
        step!("3", "r9", "r8"),
        step!("4", "r8", "r9"),
        step!("5", "r9", "r8"),
        step!("6", "r8", "r9"),
        step!("7", "r9", "r8"),
        "adcx r8, r10",
        "adox r8, r10",
        "lea rsi, [rsi + 64]",
        "lea rdi, [rdi + 64]",
        "dec rcx",
        "jnz 2b",
        "mov rax, r8",
        "ret",
    )
}

/// acc <- acc + a * w; returns the word above. Shape: of the same length.
pub(super) fn addmul_1(_: Adx, acc: &mut [u64], a: &[u64], w: u64) -> u64 {
    let blocks = acc.len() / BLOCK;
    let (acc, acc_rest) = acc.split_at_mut(blocks * BLOCK);
    let (a, a_rest) = a.split_at(blocks * BLOCK);
    assert_eq!(acc.len(), a.len());
    // SAFETY: the token proves BMI2 and ADX; both slices are of 8 `blocks` words.
    let carry = if blocks == 0 { 0 } else { unsafe { addmul_word_blocks(acc.as_mut_ptr(), a.as_ptr(), w, blocks) } };
    super::mul::portable::addmul_1(acc_rest, a_rest, w, carry)
}

/// acc <- acc + a * b; the words above are stored, not added. Shape: a of whole blocks, b of one, acc one block longer
/// than a.
fn addmul_block(_: Adx, acc: &mut [u64], a: &[u64], b: &[u64]) {
    assert!(!a.is_empty() && a.len().is_multiple_of(BLOCK) && b.len() == BLOCK && acc.len() == a.len() + BLOCK);
    // SAFETY: the token proves BMI2 and ADX; the lengths are those the function needs; `acc` is borrowed mutably.
    unsafe { addmul_block_row(acc.as_mut_ptr(), a.as_ptr(), b.as_ptr(), a.len() / BLOCK) }
}

/// out <- a * b. Shape: `out` as long as both together.
pub(super) fn mul(token: Adx, out: &mut [u64], a: &[u64], b: &[u64]) {
    assert_eq!(out.len(), a.len() + b.len());
    let (whole_a, whole_b) = (a.len() / BLOCK * BLOCK, b.len() / BLOCK * BLOCK);
    let (low_a, high_a) = a.split_at(whole_a);
    let (low_b, high_b) = b.split_at(whole_b);
    out[..whole_a].fill(0);
    if whole_a > 0 {
        for (i, block) in low_b.chunks_exact(BLOCK).enumerate() {
            addmul_block(token, &mut out[i * BLOCK..][..whole_a + BLOCK], low_a, block);
        }
    } else {
        out[..whole_b].fill(0);
    }
    // The words past whole blocks: first those of a times the blocks of b, then those of b times all of a.
    for (i, &w) in high_a.iter().enumerate() {
        out[whole_a + whole_b + i] = addmul_1(token, &mut out[whole_a + i..][..whole_b], low_b, w);
    }
    for (i, &w) in high_b.iter().enumerate() {
        out[whole_b + a.len() + i] = addmul_1(token, &mut out[whole_b + i..][..a.len()], a, w);
    }
}

/// t[n..2n] and the carry returned <- t / 2^(64 n) modulo m, below 2^(64 n) + m. Shape: m of n words, whole blocks; t
/// of 2n.
pub(super) fn reduce(_: Adx, t: &mut [u64], m: &[u64], inverse: u64) -> u64 {
    assert!(!m.is_empty() && m.len().is_multiple_of(BLOCK) && t.len() == 2 * m.len());
    for i in (0..m.len()).step_by(BLOCK) {
        // SAFETY: the token proves BMI2 and ADX; `m` has whole blocks, and `t` as many words from `i` on, for i < n.
        unsafe { reduce_block_row(t[i..i + m.len()].as_mut_ptr(), m.as_ptr(), inverse, m.len() / BLOCK) };
    }
    // Block i left the 8 words that belong n words above it.
    let (low, high) = t.split_at_mut(m.len());
    super::add(high, low)
}

/// out <- a^2. Shape: `out` twice as long as `a`.
pub(super) fn square(token: Adx, out: &mut [u64], a: &[u64]) {
    let n = a.len();
    assert_eq!(out.len(), 2 * n);
    let whole = n / BLOCK * BLOCK;
    let (low, high) = a.split_at(whole);
    out.fill(0);
    // First the pairs of different blocks; then twice their sum, and the squares of the blocks.
    for i in (BLOCK..whole).step_by(BLOCK) {
        addmul_block(token, &mut out[2 * i - BLOCK..i + whole], &low[i..], &low[i - BLOCK..i]);
    }
    if whole > 0 {
        // SAFETY: the token proves BMI2 and ADX; `low` has `whole` words in blocks, `out` at least twice as many.
        unsafe { square_blocks(out.as_mut_ptr(), low.as_ptr(), whole / BLOCK) };
    }
    // The words past whole blocks: twice their products with the blocks, and their square. Each row is added twice,
    // because a doubled word may have 65 bits.
    for (i, &w) in high.iter().enumerate() {
        for _ in 0..2 {
            let carry = addmul_1(token, &mut out[whole + i..][..whole], low, w);
            super::add_1(&mut out[2 * whole + i..], carry);
        }
    }
    let mut square = [0; 2 * BLOCK];
    let square = &mut square[..2 * high.len()];
    super::mul::portable::square(square, high);
    super::add(&mut out[2 * whole..], square);
}

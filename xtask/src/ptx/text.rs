//! Reads what the chore needs from PTX: the kernels and their resources, and the lints.

use serde::{Deserialize, Serialize};

/// One kernel of a file.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kernel {
    pub(super) name: String,
    /// Largest number of threads of a block.
    pub(super) threads: u32,
    /// Blocks that the compiler fits on a multiprocessor.
    pub(super) blocks: u32,
    /// Bytes of shared memory that the kernel declares. A launch may add more.
    pub(super) shared: u32,
    /// Registers of a thread and bytes of spills, by `ptxas`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) registers: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) spills: Option<u32>,
}

/// Returns the kernels of a program, in its order.
pub(super) fn kernels(program: &str) -> Vec<Kernel> {
    let entries = program.split(".entry ").skip(1);
    entries
        .map(|entry| {
            let number = |directive: &str| {
                let value = entry.split(directive).nth(1).and_then(|rest| rest.split([',', '\n']).next());
                value.and_then(|value| value.trim().parse().ok())
            };
            Kernel {
                name: entry.split('(').next().unwrap_or_default().trim().to_owned(),
                threads: number(".maxntid ").unwrap_or(1024),
                blocks: number(".minnctapersm ").unwrap_or(1),
                shared: shared(entry),
                registers: None,
                spills: None,
            }
        })
        .collect()
}

/// Bytes of the arrays `.shared .align A .b8 NAME[COUNT];` of a kernel, in the order of their declaration.
fn shared(entry: &str) -> u32 {
    entry.lines().filter_map(|line| line.trim().strip_prefix(".shared .align ")).fold(0, |bytes, array| {
        let align = array.split(' ').next().and_then(|align| align.parse().ok()).unwrap_or(1u32);
        let count = array.split(['[', ']']).nth(1).and_then(|count| count.parse().ok()).unwrap_or(0u32);
        bytes.next_multiple_of(align.max(1)) + count
    })
}

/// Checks that every operation on doubles states its rounding, and that no register array went to local memory.
pub(super) fn lint(program: &str) -> Result<(), String> {
    for (number, line) in program.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        for word in code.split_whitespace() {
            let mut parts = word.trim_end_matches(';').split('.');
            let operation = parts.next().unwrap_or_default();
            let modifiers: Vec<&str> = parts.collect();
            let arithmetic = matches!(operation, "add" | "sub" | "mul" | "fma" | "div" | "sqrt");
            let float = modifiers.iter().any(|&part| matches!(part, "f64" | "f32"));
            if arithmetic && float && !modifiers.contains(&"rn") {
                return Err(format!(
                    "line {}: `{word}` states no rounding; use the functions of cuda/port.h",
                    number + 1
                ));
            }
            if modifiers.contains(&"local") {
                return Err(format!(
                    "line {}: `{word}` is local memory; index register arrays by constants",
                    number + 1
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "
.visible .entry first(
	.param .u64 first_param_0
)
.maxntid 256, 1, 1
.minnctapersm 2
{
	.shared .align 8 .b8 a[12];
	.shared .align 16 .b8 b[32];
	add.rn.f64 %fd1, %fd2, %fd3; // add.f64
	ret;
}
.visible .entry second(
)
{
	add.s32 %r1, %r2, %r3;
	ret;
}
";

    #[test]
    fn kernels_are_found_with_their_resources() {
        let kernel = |name: &str, threads, blocks, shared| Kernel {
            name: name.into(),
            threads,
            blocks,
            shared,
            registers: None,
            spills: None,
        };
        assert_eq!(kernels(PROGRAM), [kernel("first", 256, 2, 48), kernel("second", 1024, 1, 0)]);
    }

    #[test]
    fn lints_find_what_rounds_as_it_likes_and_what_leaves_the_registers() {
        assert_eq!(lint(PROGRAM), Ok(()));
        for fault in [
            "add.f64 %fd1, %fd2, %fd3;",
            "@%p1 mul.f64 %fd1, %fd2, %fd3;",
            "st.local.u32 [%r1], %r2;",
            ".local .align 8 .b8 x[8];",
        ] {
            let message = lint(&PROGRAM.replace("ret;", fault)).unwrap_err();
            assert!(message.starts_with("line 11: "), "{message}");
        }
    }
}

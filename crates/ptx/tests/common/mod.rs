//! Runs single instructions: every thread applies one to its own operands.
#![allow(dead_code, reason = "each test program uses a part")]

use std::fmt::Write;

use solinas_ptx::{Fault, Launch, Machine, Module, Options};

/// Start of every PTX text.
pub(crate) const HEAD: &str = ".version 8.4\n.target sm_90\n.address_size 64\n";

/// A kernel `k` with two pointers, `%in` and `%out`, whose body runs in every thread.
pub(crate) fn kernel(declarations: &str, body: &str) -> String {
    format!(
        "{HEAD}.visible .entry k(.param .u64 a, .param .u64 b)\n{{\n.reg .b64 %in, %out, %t<4>;\n.reg .b32 %thread, %u<4>;\n{declarations}\n\
         ld.param.u64 %in, [a];\nld.param.u64 %out, [b];\nmov.u32 %thread, %tid.x;\n{body}\nret;\n}}\n"
    )
}

/// Runs kernel `k` in one block on a buffer of input words. Returns the output buffer of `words` words.
pub(crate) fn run(text: &str, threads: u32, input: &[u64], words: usize) -> Result<Vec<u64>, Fault> {
    let module = Module::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut machine = Machine::new(Options::default());
    let from = machine.allocate(8 * input.len().max(1) as u64)?;
    let to = machine.allocate(8 * words as u64)?;
    let bytes: Vec<u8> = input.iter().flat_map(|word| word.to_le_bytes()).collect();
    machine.write(from, &bytes)?;
    machine.fill(to, 0, 8 * words as u64)?;
    let parameters = [from.to_le_bytes(), to.to_le_bytes()].concat();
    machine.launch(module.kernel("k").unwrap(), &Launch::line(1, threads), &parameters)?;
    let mut out = vec![0; 8 * words];
    machine.read(to, &mut out)?;
    Ok(out.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect())
}

/// Applies an instruction to rows of operands. `types` has one letter for the result `%d` and one for each operand `%a`,
/// `%b`, `%c`, `%e`: `p` for a predicate, `h`, `r`, `l` for 16, 32, 64 bits.
pub(crate) fn apply(instruction: &str, types: &str, rows: &[Vec<u64>]) -> Vec<u64> {
    let text = text_of(instruction, types);
    let mut results = Vec::new();
    for rows in rows.chunks(1024) {
        let input: Vec<u64> = rows.iter().flatten().copied().collect();
        let result = run(&text, rows.len() as u32, &input, rows.len());
        results.extend(result.unwrap_or_else(|fault| panic!("{instruction}: {fault}")));
    }
    results
}

/// The kernel of [`apply`].
pub(crate) fn text_of(instruction: &str, types: &str) -> String {
    let names = ["d", "a", "b", "c", "e"];
    let width = types.len() - 1;
    let mut declarations = String::new();
    let mut body = format!(
        "mul.lo.u32 %u0, %thread, {};\ncvt.u64.u32 %t0, %u0;\nadd.u64 %t0, %t0, %in;\nmul.wide.u32 %t1, %thread, 8;\nadd.u64 %t1, %t1, %out;\n",
        8 * width
    );
    for (at, (name, ty)) in names.iter().zip(types.chars()).enumerate() {
        let declared = match ty {
            'p' => "pred",
            'h' => "b16",
            'r' => "b32",
            _ => "b64",
        };
        let _ = writeln!(declarations, ".reg .{declared} %{name};");
        if at > 0 {
            let _ = writeln!(body, "ld.global.u64 %t2, [%t0+{}];", 8 * (at - 1));
            let convert = match ty {
                'p' => format!("setp.ne.u64 %{name}, %t2, 0;"),
                'h' => format!("cvt.u16.u64 %{name}, %t2;"),
                'r' => format!("cvt.u32.u64 %{name}, %t2;"),
                _ => format!("mov.u64 %{name}, %t2;"),
            };
            body += &convert;
            body.push('\n');
        }
    }
    body += instruction;
    body += match &types[..1] {
        "p" => ";\nselp.u64 %t3, 1, 0, %d;\n",
        "h" => ";\ncvt.u64.u16 %t3, %d;\n",
        "r" => ";\ncvt.u64.u32 %t3, %d;\n",
        _ => ";\nmov.u64 %t3, %d;\n",
    };
    body += "st.global.u64 [%t1], %t3;";
    kernel(&declarations, &body)
}

/// All rows of `count` operands from a list of values.
pub(crate) fn product(values: &[u64], count: usize) -> Vec<Vec<u64>> {
    let mut rows = vec![Vec::new()];
    for _ in 0..count {
        rows =
            rows.iter().flat_map(|row| values.iter().map(move |&value| [row.as_slice(), &[value]].concat())).collect();
    }
    rows
}

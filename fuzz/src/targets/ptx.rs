//! PTX texts. No text makes the parser panic, hang or allocate without bound. An accepted kernel ends with a report or a fault.

use solinas_ptx::{Launch, Machine, Module, Options};

/// Parses the text and runs its small kernels for a moment.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(module) = Module::parse(text) else { return };
    for kernel in module.kernels().take(2) {
        let mut machine = Machine::new(Options { memory: 1 << 20, steps: 1 << 12, ..Options::default() });
        let mut parameters = Vec::new();
        for parameter in kernel.parameters() {
            let Ok(buffer) = machine.allocate(64) else { return };
            let _ = machine.fill(buffer, 1, 32);
            parameters.resize(parameter.offset as usize, 0);
            parameters.extend(buffer.to_le_bytes().into_iter().chain([0; 64]).take(parameter.bytes as usize));
        }
        let end = kernel.parameters().last().map_or(0, |last| (last.offset + last.bytes) as usize);
        parameters.resize(end, 0);
        let launch = Launch { shared: 64, ..Launch::line(2, 64.min(kernel.max_threads().unwrap_or(64))) };
        let _ = machine.launch(kernel, &launch, &parameters);
    }
}

/// Kernels with every kind of statement.
pub fn seeds() -> Vec<Vec<u8>> {
    let head = ".version 8.4\n.target sm_90\n.address_size 64\n.const .align 4 .u32 table[2] = {5, -1};\n\
        .extern .shared .align 16 .b8 dynamic[];\n";
    let kernel = |body: &str| {
        format!(
            "{head}.visible .entry k(.param .u64 a, .param .align 4 .b8 b[8])\n.maxntid 64, 1, 1\n.minnctapersm 2\n{{\n\
             .reg .b64 %l<8>; .reg .b32 %r<8>; .reg .b16 %h<4>; .reg .pred %p<4>;\n.shared .align 8 .b8 s[512];\n\
             ld.param.u64 %l0, [a];\nld.param.u32 %r0, [b+4];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %l1, %r1, 8;\n{body}\nret;\n}}\n"
        )
    };
    let bodies = [
        "ld.global.v2.u32 {%r2, %r3}, [%l0+8];\nadd.cc.u32 %r2, %r2, %r3;\naddc.u32 %r3, 0, 0;\nmov.b64 %l2, {%r2, %r3};\nst.shared.u64 [s+8], %l2;\n",
        "mov.u64 %l2, s;\nadd.s64 %l2, %l2, %l1;\nst.shared.u64 [%l2], %l1;\nbar.sync 0;\nld.shared.u64 %l3, [%l2];\n@%p0 bra L;\nL:\n",
        "setp.lt.u32 %p0, %r1, 9;\n@!%p0 bra L2;\nL1: sub.u32 %r1, %r1, 1;\nsetp.gt.s32 %p1, %r1, 0;\n@%p1 bra L1;\nL2: bar.warp.sync -1;\n",
        "shfl.sync.bfly.b32 %r2|%p0, %r1, 1, 31, -1;\nvote.sync.ballot.b32 %r3, %p0, -1;\natom.global.add.u32 %r4, [%l0], %r3;\nmembar.gl;\n",
        "{ .reg .f64 x; cvt.rn.f64.u32 x, %r1; fma.rn.f64 x, x, 0d3FF8000000000000, x; cvt.rzi.s32.f64 %r2, x; }\nprmt.b32 %r3, %r2, %r1, 0x3210;\n\
         bfi.b64 %l3, %l1, %l0, 3, 60;\nlop3.b32 %r4, %r3, %r2, %r1, 0xE8;\nld.const.u32 %r5, [table+4];\ncvt.u16.u32 %h0, %r5;\nbar.red.popc.u32 %r2, 0, %p0;\n",
    ];
    bodies.map(|body| kernel(body).into_bytes()).to_vec()
}

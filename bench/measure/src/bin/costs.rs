//! Prints bootstraps and depth of every operation, for each width and family: `cargo measure costs`.

use solinas_engine::program::OPERATIONS;
use solinas_engine::{Program, Type, cost};

fn main() {
    for set in ["integers-128", "gates-128"] {
        println!("{set}: bootstraps/depth at 8, 16, 32, 64 bits");
        for operation in OPERATIONS {
            let cells: Vec<String> = [8, 16, 32, 64]
                .iter()
                .filter_map(|&width| {
                    let ty = Type::Uint(width);
                    let types =
                        if operation.name == "select" { vec![Type::Bool, ty, ty] } else { vec![ty; operation.arity] };
                    let program = Program::from_op(operation.name, &types).ok()?;
                    cost(&program, set).ok().map(|cost| format!("{:>6}/{:<5}", cost.bootstraps, cost.depth))
                })
                .collect();
            if !cells.is_empty() {
                println!("  {:<16} {}", operation.name, cells.join(" "));
            }
        }
    }
}

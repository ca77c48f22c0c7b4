//! The cases that numpy wrote, by `eval --program`.

use crate::cases::{Case, cases};
use crate::common::{Place, key};
use solinas_engine::program::ProgramFile;
use solinas_engine::{Ciphertext, ClientKey, Plain};

#[test]
fn cases_give_what_numpy_gives_by_the_command() {
    let place = Place::new();
    let secret = ClientKey::load(key("k/client.key").as_ref()).unwrap().allow_research();
    let (mut ran, every) = (0, solinas_testing::rounds(4, 1));
    for (number, Case { name, program, inputs, outputs, error }) in cases().into_iter().enumerate() {
        let program = ProgramFile::read(&program.to_string()).unwrap().program;
        // Values that share ciphertexts belong to another scheme, and arrays without elements have no files.
        let is_empty = inputs.iter().chain(&outputs).any(|array| array.plain().values.is_empty());
        if number % every != 0 || is_empty || program.nodes.iter().any(|node| node.ty.modulus().is_some()) {
            continue;
        }
        place.write("program.json", program.to_json(&name).unwrap());
        let mut line = "eval --key SERVER --research --program program.json -o results/".to_owned();
        for (at, input) in inputs.iter().enumerate() {
            let file = format!("x{at}.ct");
            secret.encrypt(&Plain::from(input.plain())).unwrap().save(&place.path(&file)).unwrap();
            line += &format!("{}{file}", if at == 0 { " --inputs " } else { " " });
        }
        std::fs::create_dir_all(place.path("results")).unwrap();
        if let Some(part) = error {
            let output = place.command(&line).assert().failure();
            let told = String::from_utf8(output.get_output().stderr.clone()).unwrap();
            // The command names the files of shapes that do not fit.
            assert!(told.contains(&part) || told.contains("give arrays of the same shape"), "{name}: {told}");
            continue;
        }
        place.run(&line);
        for (result, output) in program.outputs.iter().zip(&outputs) {
            let result = Ciphertext::load(&place.path("results").join(format!("{}.ct", result.name))).unwrap();
            assert_eq!(secret.decrypt(&result).unwrap(), output.plain().into(), "{name}");
        }
        std::fs::remove_dir_all(place.path("results")).unwrap();
        ran += 1;
    }
    assert!(ran >= 25, "{ran} ran");
}

//! t
use solinas_runtime::{Control, KeygenOptions, Plain, Program, Server, Type, keygen};
fn main() -> Result<(), Box<dyn std::error::Error>> {
let (client, key) = keygen(&KeygenOptions::default(), &Control::default())?;
let [a, b] = [1234, 99].map(|value| Plain::unsigned(Type::Uint(32), value).and_then(|plain| client.encrypt(&plain)));
let server = Server::new(&key, None)?;
let product = server.run(&Program::from_op("mul", &[Type::Uint(32); 2])?, &[a?, b?], &Control::default())?;
assert_eq!(client.decrypt(&product[0])?.to_strings(), ["122166"]);
key.save(std::path::Path::new("/tmp/docs-server.key"), true)?; client.save(std::path::Path::new("/tmp/docs-client.key"), true)?; product[0].save(std::path::Path::new("/tmp/docs-x.ct"))?;
{
use solinas_circuits::program::{Program, Type};
use solinas_circuits::{GateCosts, build::Style};
let program = Program::from_op("mul", &[Type::Uint(8), Type::Uint(8)])?;
assert_eq!(program.evaluate(&[12, 13])?, [156]);
let netlist = program.lower(Style::FewestBootstraps.into())?.optimize(&GateCosts::default());
println!("{:?}", netlist.stats(&GateCosts::default()));
}
Ok(()) }

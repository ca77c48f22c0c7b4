//! A comparison, a selection and a conversion with tfhe-rs; `ours.rs` is the same with the crate `solinas`.

use std::error::Error;
use tfhe::prelude::*;
use tfhe::{ConfigBuilder, FheUint8, FheUint32, generate_keys, set_server_key};

fn main() -> Result<(), Box<dyn Error>> {
    let config = ConfigBuilder::default().build();
    let (client_key, server_key) = generate_keys(config);
    let a = FheUint32::try_encrypt(1344u32, &client_key)?;
    let b = FheUint32::try_encrypt(5u32, &client_key)?;

    set_server_key(server_key);
    let larger = a.gt(&b).if_then_else(&(&a * &b), &(&a + &b));
    let remainder = &larger % 256u32;
    let small: FheUint8 = remainder.cast_into();
    let small = small.min(7u8);

    let larger: u32 = larger.decrypt(&client_key);
    let small: u8 = small.decrypt(&client_key);
    assert_eq!((larger, small), (6720, 7));
    println!("{larger} {small}");
    Ok(())
}

//! Ciphertexts, keys, plans and paused runs from untrusted bytes. A reader returns typed errors and never panics. Accepted input is written back unchanged.

use solinas_engine::{
    Ciphertext, ClientKey, Control, Error, KeygenOptions, ParamsInfo, Plain, Plan, Program, PublicKey, Ran, RunState,
    Scheme, Server, ServerKey, Type, Work, keygen, schemes,
};

use super::container::reseal;
use crate::mutate::MAX_LEN;

/// Reads the bytes as each kind of file, unchanged and with corrected checksums.
pub fn run(data: &[u8]) {
    for bytes in [Some(data.to_vec()), reseal(data)].into_iter().flatten() {
        if let Ok(ciphertext) = Ciphertext::from_bytes(&bytes) {
            let copy = ciphertext.to_bytes().expect("what was read can be written");
            assert_eq!(Ciphertext::from_bytes(&copy).expect("what was written can be read"), ciphertext);
            let last = ciphertext.get(ciphertext.len() - 1);
            let _ = last.and_then(|last| Ciphertext::stack(vec![last.clone(), last]));
        }
        if let Ok(key) = PublicKey::from_bytes(&bytes) {
            let copy = key.to_bytes().expect("what was read can be written");
            let again = PublicKey::from_bytes(&copy).expect("what was written can be read");
            assert!(again.to_bytes().is_ok_and(|bytes| bytes == copy));
        }
        if let Ok(plan) = Plan::from_bytes(&bytes) {
            let copy = plan.to_bytes().expect("what was read can be written");
            assert_eq!(Plan::from_bytes(&copy).expect("what was written can be read"), plan);
            assert_eq!(plan.bootstraps(), plan.waves().iter().sum::<u64>());
        }
        if let Ok(state) = RunState::from_bytes(&bytes) {
            let copy = state.to_bytes().expect("what was read can be written");
            assert!(RunState::from_bytes(&copy).is_ok_and(|again| again == state));
        }
        let _ = ClientKey::from_bytes(&bytes);
        let _ = ServerKey::from_bytes(&bytes);
    }
}

/// For each scheme of the registry, keys and ciphertexts of its smallest set. A new scheme is fuzzed from its first day.
pub fn seeds() -> Vec<Vec<u8>> {
    schemes().flat_map(|scheme| files(scheme).expect("a small set makes keys that encrypt")).collect()
}

/// A client key, a server key, a public key, and ciphertexts of one and of two elements in every form. Leaves out
/// the server key if the mutator would cut it.
fn files(scheme: Scheme) -> Result<Vec<Vec<u8>>, Error> {
    let size = |set: &ParamsInfo| set.server_key_bytes + set.ciphertext_bytes;
    let set = scheme.params().into_iter().min_by_key(size).expect("a scheme has a parameter set");
    let options =
        KeygenOptions { scheme, params: Some(set.name), research: true, insecure_seed: Some(1), ..Default::default() };
    let (client, server) = keygen(&options, &Control::default())?;
    let mut files = vec![client.to_bytes()?.to_vec()];
    if set.server_key_bytes < MAX_LEN {
        files.push(server.to_bytes()?);
    }
    let ty = match (set.slots, set.plaintext_modulus.and_then(|modulus| u32::try_from(modulus).ok())) {
        (Some(_), Some(modulus)) => Type::Mod(modulus),
        _ => Type::Uint(2),
    };
    let public = client.public_key().ok();
    if let Some(public) = &public {
        files.push(public.to_bytes()?);
    }
    let holder = Server::new(&server, Some(1))?;
    for plain in [Plain::new(ty, None, vec![1])?, Plain::new(ty, Some(vec![2]), vec![1, 0])?] {
        let fresh = client.encrypt(&plain)?;
        files.push(fresh.to_bytes()?);
        if let Some(public) = &public {
            files.push(public.encrypt(&plain)?.to_bytes()?);
            files.push(Ciphertext::stack(vec![fresh.clone()])?.to_bytes()?);
            files.push(holder.compact(&fresh)?.to_bytes()?);
        }
    }
    if scheme.capabilities().compact {
        // One block, blocks with a common mask, and both.
        let compact = |plain: Plain| holder.compact(&client.encrypt(&plain)?);
        let single = compact(Plain::new(Type::Bool, None, vec![1])?)?;
        let packed = compact(Plain::new(Type::Bool, Some(vec![5]), vec![1, 0, 1, 1, 0])?)?;
        let mixed = Ciphertext::stack(vec![packed.clone(), single.clone()])?;
        for ciphertext in [single, packed, mixed] {
            files.push(ciphertext.to_bytes()?);
        }
    }
    if scheme.capabilities().plans {
        let program = Program::from_op("add", &[ty; 2])?;
        let fresh = client.encrypt(&Plain::new(ty, None, vec![1])?)?;
        let prepared = holder.prepare(Work::program(&program, &[fresh.clone(), fresh]), &Control::default())?;
        files.push(prepared.plan()?.to_bytes()?);
        if let Ran::Paused(state) = prepared.run_until(None, |_| true, &Control::default())? {
            files.push(state.to_bytes()?);
        }
    }
    Ok(files)
}

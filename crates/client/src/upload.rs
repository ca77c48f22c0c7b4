//! Uploads in parts, by the protocol tus 1.0.0. After a lost connection, the service says how many bytes it has.

use crate::Error;
use crate::digest::digest;
use crate::http::{Answer, Call, Http};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use solinas_values::Control;

/// Bytes of a part. Proxies limit the length of a body.
const PART: usize = 32 << 20;
/// How often an upload is begun again that the service has no longer.
const BEGUN: u32 = 3;
const RESUMABLE: (&str, &str) = ("tus-resumable", "1.0.0");

/// Sends a file, which becomes the blob of its digest.
pub(crate) fn in_parts(http: &Http, bytes: &[u8]) -> Result<(), Error> {
    let mut begun = 1;
    loop {
        match begin(http, bytes).and_then(|path| send(http, &path, bytes)) {
            // It was lost with a store, or has expired.
            Err(error) if begun < BEGUN && matches!(error.status(), Some(404 | 410)) => begun += 1,
            done => return done,
        }
    }
}

fn call<'a>(method: &'static str, path: &str, headers: &[(&'static str, String)]) -> Call<'a> {
    let version = (RESUMABLE.0, RESUMABLE.1.to_owned());
    Call { method, headers: [&[version], headers].concat(), ..Call::get(path) }
}

/// Begins an upload. Returns its path.
fn begin(http: &Http, bytes: &[u8]) -> Result<String, Error> {
    let metadata = format!("digest {}", STANDARD.encode(digest(bytes)));
    let headers = [("upload-length", bytes.len().to_string()), ("upload-metadata", metadata)];
    let answer = http.answer(&call("POST", "/v1/uploads", &headers), &Control::default())?;
    let location = answer.headers.get("location").and_then(|location| location.to_str().ok());
    let id = location.and_then(identity).ok_or_else(|| http.foreign("an upload without a path".into()))?;
    Ok(format!("/v1/uploads/{id}"))
}

/// The identity of an upload: the last part of its address. Proxies rewrite what stands before it, and not always to an address at
/// which the service can be reached, so the client goes on at the address that it called.
fn identity(location: &str) -> Option<&str> {
    let (folder, id) = location.rsplit_once('/')?;
    let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_id && folder.rsplit('/').next() == Some("uploads")).then_some(id)
}

/// Sends all bytes of an upload. The time for repetitions begins again with each byte that arrives.
fn send(http: &Http, path: &str, bytes: &[u8]) -> Result<(), Error> {
    let control = Control::default();
    let (mut at, mut pauses) = (0, http.pauses());
    while at < bytes.len() {
        let headers = [("upload-offset", at.to_string()), ("content-type", "application/offset+octet-stream".into())];
        let part = &bytes[at..bytes.len().min(at + PART)];
        let sent = http.once(&Call { body: Some(part), ..call("PATCH", path, &headers) }, &control);
        let now = match sent {
            Ok(answer) => offset(http, &answer, bytes)?,
            Err(error) if error.passes().is_none() => return Err(error),
            Err(error) => {
                let now = offset(http, &http.answer(&call("HEAD", path, &[]), &control)?, bytes)?;
                if now <= at {
                    pauses.wait(error, &control)?;
                }
                now
            }
        };
        if now > at {
            pauses = http.pauses();
        }
        at = now;
    }
    Ok(())
}

/// The number of bytes that the service has.
fn offset(http: &Http, answer: &Answer, bytes: &[u8]) -> Result<usize, Error> {
    let offset = answer.headers.get("upload-offset").and_then(|offset| offset.to_str().ok()?.parse().ok());
    offset.filter(|offset| *offset <= bytes.len()).ok_or_else(|| http.foreign("an upload without an offset".into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Trust;
    use solinas_server::{Config, Service};
    use solinas_values::ClientKey;
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpListener, TcpStream};
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn addresses_of_uploads_may_be_relative_or_rewritten_by_a_proxy() {
        let accepted = [
            "uploads/01JD",
            "/v1/uploads/01JD",
            "/fhe/v1/uploads/01JD",
            "http://10.0.0.7:7470/v1/uploads/01JD",
            "https://fhe.example.org/prefix/v1/uploads/01JD",
        ];
        for location in accepted {
            assert_eq!(identity(location), Some("01JD"), "{location}");
        }
        for location in
            ["", "01JD", "uploads/", "jobs/01JD", "uploads/01JD/", "uploads/..", "uploads/a%2Fb", "uploads/a?b"]
        {
            assert_eq!(identity(location), None, "{location}");
        }
    }

    fn service(folder: &std::path::Path, change: impl FnOnce(&mut Config)) -> Service {
        let mut config = Config::new(folder.to_path_buf());
        config.address.set_port(0);
        config.limits.disk_reserve_bytes = 0;
        change(&mut config);
        Service::start(config).unwrap()
    }

    /// A file of the library.
    fn file(bytes: usize) -> Vec<u8> {
        let header = solinas_formats::Header::new(solinas_formats::Kind::Ciphertext);
        let mut writer = solinas_formats::Writer::in_memory(header);
        writer.section("contents", &vec![7; bytes]).unwrap();
        writer.into_bytes().unwrap().to_vec()
    }

    /// Copies bytes until `budget` of them have passed, and closes both sides then.
    fn forward(mut from: TcpStream, mut to: TcpStream, mut budget: usize, cuts: &AtomicUsize) {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            let passed = read.min(budget);
            if to.write_all(&buffer[..passed]).is_err() {
                break;
            }
            budget -= passed;
            if budget == 0 {
                cuts.fetch_add(1, Ordering::Relaxed);
                break;
            }
        }
        // They may be closed already.
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }

    #[test]
    fn an_upload_outlives_twenty_lost_connections() {
        let folder = tempfile::tempdir().unwrap();
        let service = service(folder.path(), |_| {});
        let bytes = file(64 << 20);
        let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", proxy.local_addr().unwrap());
        let (target, cuts) = (service.address(), &*Box::leak(Box::new(AtomicUsize::new(0))));
        std::thread::spawn(move || {
            for (number, client) in proxy.incoming().enumerate() {
                let (client, server) = (client.unwrap(), TcpStream::connect(target).unwrap());
                // From 0.3 to 3 MiB, then all.
                let budget = if number < 20 { 300_000 + number * 7_919_317 % 2_700_000 } else { usize::MAX };
                let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
                std::thread::spawn(move || forward(client, server, budget, cuts));
                std::thread::spawn(move || forward(back.0, back.1, usize::MAX, cuts));
            }
        });
        let http = Http::new(&url, service.first_token().unwrap().secret(), &Trust::default()).unwrap();
        in_parts(&http, &bytes).unwrap();
        assert_eq!(cuts.load(Ordering::Relaxed), 20);
        assert!(
            http.send(&Call { most: u64::MAX, ..Call::get(format!("/v1/blobs/{}", digest(&bytes))) }).unwrap() == bytes
        );
        service.stop();
    }

    #[test]
    fn uploads_that_are_lost_begin_again_and_mistakes_are_final() {
        let folder = tempfile::tempdir().unwrap();
        let expires = service(folder.path(), |config| config.limits.upload_hours = 0);
        let token = expires.first_token().unwrap().secret().to_owned();
        let http = Http::new(&format!("http://{}", expires.address()), &token, &Trust::default()).unwrap();
        assert_eq!(in_parts(&http, &file(9 << 20)).unwrap_err().code(), Some("expired"));
        expires.stop();
        let service = service(folder.path(), |_| {});
        let http = Http::new(&format!("http://{}", service.address()), &token, &Trust::default()).unwrap();
        let path = begin(&http, &file(9 << 20)).unwrap();
        http.send(&call("DELETE", &path, &[])).unwrap();
        assert_eq!(send(&http, &path, &file(9 << 20)).unwrap_err().status(), Some(404));
        let options = solinas_values::KeygenOptions {
            params: Some("gates-toy".into()),
            research: true,
            insecure_seed: Some(4),
            ..Default::default()
        };
        let (secret, _): (ClientKey, _) =
            solinas_values::keygen(&options, &solinas_values::Control::default()).unwrap();
        let mut bytes = secret.to_bytes().unwrap();
        bytes.resize(9 << 20, 0);
        assert_eq!(in_parts(&http, &bytes).unwrap_err().code(), Some("secret_file"));
        service.stop();
    }
}

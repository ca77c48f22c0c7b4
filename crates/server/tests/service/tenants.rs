//! Tokens, scopes, and what tenants see of each other.

use crate::harness::{Client, Harness, keys, start};
use serde_json::json;
use solinas_engine::Type;
use solinas_server::{Scope, Store};

#[test]
fn a_tenant_sees_nothing_of_another() {
    let harness = Harness::new();
    sees_nothing(&harness.other("stranger", &[Scope::Jobs, Scope::Keys, Scope::Read]), &harness.client);
}

/// Checks that no request of a stranger shows anything of the owner's objects.
pub(crate) fn sees_nothing(stranger: &Client, owner: &Client) {
    let body = owner.job("add", 1, 2);
    let id = owner.submit("owner", &body).ok()["id"].as_str().unwrap().to_owned();
    owner.wait(&id);
    let (key, blob) = (keys().2.as_str(), body["inputs"][0]["blob"].as_str().unwrap());
    let program = body["program"].as_str().unwrap();
    // Identities that nobody has: the answers must be equal.
    let upload = crate::parts::begin(owner, &keys().1);
    let [no_key, no_hash, no_job, no_upload] =
        [key, &blob[3..], &id, &upload].map(|id| id.replace(['1', '2', '3', '4', '5'], "7"));
    let no_digest = format!("b3-{no_hash}");
    let document = owner.get("/v1/openapi.json").ok();
    let mut compared = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        let digest = if path.contains("programs") { program } else { blob };
        let fill = |key: &str, digest: &str, job: &str, upload: &str| {
            let path = path.replace("{key}", key).replace("{digest}", digest).replace("{upload}", upload);
            path.replace("{job}", job).replace("{index}", "0")
        };
        let pair = [fill(key, digest, &id, &upload), fill(&no_key, &no_digest, &no_job, &no_upload)];
        // What a tenant stores under an identity is its own.
        let own = |method: &str| method == "put";
        for method in methods.as_object().unwrap().keys().filter(|method| path.contains('{') && !own(method)) {
            let [foreign, unknown] = pair.each_ref().map(|path| {
                let answer = stranger.send(&method.to_uppercase(), path, &[], &[]);
                let mut body = answer.json();
                body["request_id"] = json!(null);
                (answer.status, body)
            });
            assert_eq!(foreign, unknown, "{method} {path}");
            assert_eq!(foreign.0, 404, "{method} {path}");
            compared += 1;
        }
    }
    assert!(compared >= 12, "{compared}");
    assert_eq!(stranger.send("HEAD", &format!("/v1/blobs/{blob}"), &[], &[]).status, 404);
    stranger.submit("foreign", &body).refused(424, "program_missing");
    assert_eq!(stranger.get("/v1/jobs").ok()["jobs"], json!([]));
    assert_eq!(stranger.get("/v1/keys").ok()["keys"], json!([]));
    assert_eq!(stranger.get("/v1/usage").ok()["today"]["stored_bytes"], 0);
    // The upload of equal bytes is not known from the other tenant.
    assert_eq!(stranger.put(&format!("/v1/blobs/{}", crate::harness::digest(&keys().1)), &keys().1).status, 201);
    owner.get(&format!("/v1/jobs/{id}")).ok();
    owner.get(&format!("/v1/blobs/{blob}"));
    owner.get(&format!("/v1/uploads/{upload}")).ok();
}

#[test]
fn tokens_allow_what_their_scopes_say() {
    let harness = Harness::new();
    let reader = harness.other("local", &[Scope::Read]);
    let body = harness.client.job("add", 1, 2);
    let key = keys().2.as_str();
    let refused = [
        reader.put(&format!("/v1/blobs/{}", crate::harness::digest(b"")), b"x"),
        reader.put(&format!("/v1/keys/{key}"), json!({ "blob": body["program"] }).to_string().as_bytes()),
        reader.delete(&format!("/v1/keys/{key}")),
        reader.send("POST", "/v1/programs", &[], b"{}"),
        reader.submit("reader", &body),
        reader.send("POST", "/v1/uploads", &[], b""),
        reader.get("/metrics"),
    ];
    for answer in refused {
        let problem = answer.refused(403, "forbidden");
        assert!(problem["detail"].as_str().unwrap().contains("lacks the scope"), "{problem}");
    }
    reader.get(&format!("/v1/keys/{key}")).ok();

    let store = Store::open(harness.folder.path()).unwrap();
    let token = store.tokens().unwrap().into_iter().find(|token| token.scopes == "read").unwrap();
    store.revoke(&token.id).unwrap();
    assert!(store.revoke(&token.id).unwrap_err().to_string().contains("token list"));
    reader.get("/v1/keys").refused(401, "unauthorized");
    for token in ["", "slk_", "slk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"] {
        let answer = Client::new(&harness.client.url, token).get("/v1/keys");
        answer.refused(401, "unauthorized");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
    let expired = store.create_token("local", &[Scope::Read], Some(0)).unwrap();
    Client::new(&harness.client.url, expired.secret()).get("/v1/keys").refused(401, "unauthorized");
    store.set_quota("local", None, None, Some(0)).unwrap();
    harness.client.submit("quota", &body).refused(429, "over_quota");
    assert!(store.set_quota("nobody", None, None, None).is_err() && store.create_token("../x", &[], None).is_err());
}

#[test]
fn the_first_token_is_made_once() {
    let mut harness = Harness::new();
    let store = Store::open(harness.folder.path()).unwrap();
    for token in store.tokens().unwrap() {
        store.revoke(&token.id).unwrap();
    }
    // This looks at the token too.
    harness.restart(|_| {});
    assert_eq!(store.tokens().unwrap(), []);
    // Tokens of workers open nothing for clients.
    let folder = tempfile::tempdir().unwrap();
    Store::open_or_make(folder.path()).unwrap().create_worker_token(None).unwrap();
    let service = start(folder.path(), |_| {});
    assert!(service.first_token().is_some());
    service.stop();
    let oidc = "[oidc]\nissuer = 'https://issuer.example'\naudience = 'a'";
    let folder = tempfile::tempdir().unwrap();
    let service = start(folder.path(), |config| config.read(oidc).unwrap());
    assert!(service.first_token().is_none());
    service.stop();
}

#[test]
fn one_tenant_does_not_hold_up_another() {
    let harness = Harness::with(|config| config.limits.queue_seconds = f64::MAX);
    let (busy, other) = (&harness.client, harness.other("other", &[Scope::Jobs, Scope::Keys]));
    let wide = Type::Uint(64);
    let inputs = [busy.input(wide, 3), busy.input(wide, 5)];
    let body = json!({ "key": busy.register(), "program": busy.program("mul", &[wide, wide]), "inputs": inputs });
    let long: Vec<_> = (0..20).map(|n| busy.submit(&format!("long {n}"), &body).ok()["id"].clone()).collect();
    let small = other.submit("small", &other.job("add", 1, 2)).ok()["id"].as_str().unwrap().to_owned();
    assert_eq!(other.wait(&small)["state"], "succeeded");
    let jobs = busy.get("/v1/jobs?state=succeeded").ok();
    assert!(jobs["jobs"].as_array().unwrap().len() < 10, "the small job waited for {jobs}");
    for id in long {
        busy.post(&format!("/v1/jobs/{}/cancel", id.as_str().unwrap()), &json!({}));
    }
}

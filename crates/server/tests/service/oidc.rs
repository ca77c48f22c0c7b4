//! Tokens of an issuer of OpenID Connect.

use crate::harness::{Answer, Client, Harness};
use crate::issuer::{AUDIENCE, Issuer, Signer, encoded, now, token};
use crate::tenants::sees_nothing;
use ring::hmac;
use serde_json::{Value, json};
use solinas_server::{OidcSettings, Scope, Store};
use std::time::{Duration, Instant};

/// A service that takes the tokens of an issuer. It has the tenant `lab`.
fn service(issuer: &Issuer, change: impl FnOnce(&mut OidcSettings)) -> Harness {
    let mut settings = OidcSettings {
        issuer: issuer.url.clone(),
        audience: AUDIENCE.into(),
        tenant_claim: "tenant".into(),
        scopes: vec![Scope::Read, Scope::Jobs, Scope::Keys],
        scopes_claim: None,
    };
    change(&mut settings);
    let harness = Harness::with(|config| config.oidc = Some(settings));
    store(&harness).create_tenant("lab").unwrap();
    harness
}

fn store(harness: &Harness) -> Store {
    Store::open(harness.folder.path()).unwrap()
}

fn usage(harness: &Harness, token: &str) -> Answer {
    Client::new(&harness.client.url, token).get("/v1/usage")
}

fn detail(problem: &Value) -> &str {
    problem["detail"].as_str().unwrap()
}

#[test]
fn tokens_of_an_issuer_are_taken_beside_those_of_the_service() {
    let issuer = Issuer::new();
    let signers = [("rsa", Signer::rsa()), ("ec", Signer::ec()), ("ed", Signer::ed())];
    issuer.publish(&signers.each_ref().map(|(kid, signer)| signer.jwk(kid)));
    let harness = service(&issuer, |_| {});
    for (kid, signer) in &signers {
        assert_eq!(usage(&harness, &signer.token(kid, &issuer.claims("lab"))).ok()["tenant"], "lab", "{kid}");
    }
    let (kid, signer) = &signers[1];
    let with = |change: &dyn Fn(&mut Value)| {
        let mut claims = issuer.claims("lab");
        change(&mut claims);
        usage(&harness, &signer.token(kid, &claims))
    };
    // A clock of the issuer that differs a little, and an audience among others.
    with(&|claims| claims["exp"] = json!(now() - 30)).ok();
    with(&|claims| claims["nbf"] = json!(now() + 30)).ok();
    with(&|claims| claims["aud"] = json!(["other", AUDIENCE])).ok();
    assert_eq!(usage(&harness, &harness.client.token).ok()["tenant"], "local");
    assert_eq!(issuer.fetched(), 1);
}

#[test]
fn wrong_tokens_are_refused_with_a_reason() {
    let issuer = Issuer::new();
    let (rsa, ec, other) = (Signer::rsa(), Signer::ec(), Signer::ec());
    let mut for_encryption = rsa.jwk("encryption");
    for_encryption["use"] = json!("enc");
    let mut for_another = rsa.jwk("another");
    for_another["alg"] = json!("PS256");
    issuer.publish(&[rsa.jwk("rsa"), ec.jwk("ec"), for_encryption, for_another, json!({ "kty": "new", "kid": "x" })]);
    let harness = service(&issuer, |_| {});
    let claims = issuer.claims("lab");
    let with = |name: &str, value: Value| {
        let mut claims = claims.clone();
        claims[name] = value;
        ec.token("ec", &claims)
    };
    let headed = |header: Value| token(&header, &claims, |message| ec.sign(message));
    let of_secret = |kid: &str, secret: &[u8]| {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
        token(&json!({ "alg": "HS256", "kid": kid }), &claims, |message| hmac::sign(&key, message).as_ref().to_vec())
    };
    let right = ec.token("ec", &claims);
    usage(&harness, &right).ok();
    let (message, signature) = right.rsplit_once('.').unwrap();
    let other_claims = message.replace(&encoded(claims.to_string().as_bytes()), &encoded(with_tenant(&claims)));
    let mut unlimited = claims.clone();
    unlimited.as_object_mut().unwrap().remove("exp");
    let public = rsa.jwk("rsa")["n"].as_str().unwrap().to_owned();
    let wrong = [
        (other.token("ec", &claims), "signature"),
        (format!("{other_claims}.{signature}"), "signature"),
        (format!("{message}."), "signature"),
        (with("aud", json!("others")), "another audience"),
        (with("aud", json!([])), "another audience"),
        (with("iss", json!("https://issuer.example")), "another issuer"),
        (with("iss", json!(format!("{}/", issuer.url))), "another issuer"),
        (with("exp", json!(now() - 120)), "has expired"),
        (with("exp", json!("tomorrow")), "lacks one of the claims"),
        (ec.token("ec", &unlimited), "lacks one of the claims"),
        (with("nbf", json!(now() + 120)), "not yet valid"),
        (token(&json!({ "alg": "none", "kid": "ec" }), &claims, |_| Vec::new()), "is not a JSON Web Token"),
        (of_secret("rsa", public.as_bytes()), "not that of its key"),
        (of_secret("ec", &[4; 65]), "not that of its key"),
        (rsa.token("ec", &claims), "not that of its key"),
        (rsa.token("encryption", &claims), "none that the issuer publishes"),
        (rsa.token("another", &claims), "none that the issuer publishes"),
        (rsa.token("unknown", &claims), "none that the issuer publishes"),
        (headed(json!({ "alg": "ES256" })), "does not name its key"),
        (headed(json!({ "alg": "ES256", "kid": "ec", "crit": ["b64"], "b64": false })), "demands an extension"),
        ("a.b.c".into(), "is not a JSON Web Token"),
        ("..".into(), "is not a JSON Web Token"),
        ("slk_a.b.c".into(), "is unknown"),
        ("a.b".into(), "is unknown"),
    ];
    for (token, part) in wrong {
        let answer = usage(&harness, &token);
        let problem = answer.refused(401, "unauthorized");
        assert!(detail(&problem).contains(part), "{part}: {problem}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
    // The unknown ones led to one fetch alone, beside the first.
    assert_eq!(issuer.fetched(), 2);
    // The limit on headers, or that on tokens.
    for (bytes, statuses) in [(15_000, [401, 401]), (75_000, [401, 431])] {
        let answer = usage(&harness, &with("more", json!("x".repeat(bytes))));
        assert!(statuses.contains(&answer.status), "{answer:?}");
    }
    usage(&harness, &right).ok();
}

/// The claims of another tenant.
fn with_tenant(claims: &Value) -> &[u8] {
    let text = claims.to_string().replace("\"lab\"", "\"local\"");
    text.leak().as_bytes()
}

#[test]
fn a_new_key_of_the_issuer_is_found_and_a_removed_one_ends() {
    let issuer = Issuer::new();
    let (first, second) = (Signer::ed(), Signer::ed());
    issuer.publish(&[first.jwk("first")]);
    let harness = service(&issuer, |_| {});
    let [first, second] = [("first", &first), ("second", &second)].map(|(kid, signer)| {
        issuer.publish(&[signer.jwk(kid)]);
        let token = signer.token(kid, &issuer.claims("lab"));
        usage(&harness, &token).ok();
        token
    });
    usage(&harness, &second).ok();
    usage(&harness, &first).refused(401, "unauthorized");
    assert_eq!(issuer.fetched(), 2);
}

#[test]
fn while_the_issuer_fails_its_tokens_have_to_wait() {
    let issuer = Issuer::new();
    let signer = Signer::ec();
    let harness = service(&issuer, |_| {});
    let token = signer.token("ec", &issuer.claims("lab"));
    let wait = |why: &str| {
        let answer = usage(&harness, &token);
        let problem = answer.refused(503, "busy");
        assert!(detail(&problem).contains("cannot be fetched"), "{why}: {problem}");
        let seconds: u64 = answer.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=5).contains(&seconds), "{why}: {seconds}");
    };
    wait("nothing is there");
    wait("at once after that");
    assert_eq!(usage(&harness, &harness.client.token).ok()["tenant"], "local");
    issuer.publish(&[signer.jwk("ec")]);
    let start = Instant::now();
    while usage(&harness, &token).status == 503 {
        assert!(start.elapsed() < Duration::from_secs(120));
        std::thread::sleep(Duration::from_millis(100));
    }
    // Known keys are used while the issuer fails.
    issuer.fail();
    assert_eq!(usage(&harness, &token).ok()["tenant"], "lab");
}

#[test]
fn a_false_description_of_the_issuer_is_not_taken() {
    let signer = Signer::ec();
    let keys = json!({ "keys": [signer.jwk("ec")] }).to_string();
    let describe = |issuer: &Issuer, name: &str, keys: &str| {
        issuer.show("/.well-known/openid-configuration", json!({ "issuer": name, "jwks_uri": keys }).to_string());
    };
    let cases: [&dyn Fn(&Issuer); 4] = [
        &|issuer| describe(issuer, "https://other.example", &format!("{}/keys", issuer.url)),
        &|issuer| describe(issuer, &issuer.url, "http://keys.example/keys"),
        &|issuer| describe(issuer, &issuer.url, "file:///keys"),
        &|issuer| issuer.show("/keys", format!("{keys}{}", " ".repeat(600_000))),
    ];
    for (n, case) in cases.iter().enumerate() {
        let issuer = Issuer::new();
        issuer.publish(&[signer.jwk("ec")]);
        case(&issuer);
        let harness = service(&issuer, |_| {});
        let answer = usage(&harness, &signer.token("ec", &issuer.claims("lab")));
        assert_eq!(answer.status, 503, "case {n}: {answer:?}");
    }
}

#[test]
fn claims_name_a_tenant_of_the_operator_and_scopes_but_never_admin() {
    let issuer = Issuer::new();
    let signer = Signer::ed();
    issuer.publish(&[signer.jwk("ed")]);
    let harness = service(&issuer, |settings| {
        settings.tenant_claim = "https://solinas.example/tenant".into();
        settings.scopes_claim = Some("scope".into());
        settings.scopes.push(Scope::Admin);
    });
    let client = |tenant: Value, scope: Value| {
        let mut claims = issuer.claims("local");
        claims["https://solinas.example/tenant"] = tenant;
        claims["scope"] = scope;
        Client::new(&harness.client.url, &signer.token("ed", &claims))
    };
    let refused = |client: Client, part: &str| {
        let problem = client.get("/v1/usage").refused(403, "forbidden");
        assert!(detail(&problem).contains(part), "{problem}");
        problem
    };
    let all = || json!("openid read jobs keys admin");
    assert_eq!(client(json!("lab"), all()).get("/v1/usage").ok()["tenant"], "lab");
    client(json!("lab"), all()).get("/metrics").refused(403, "forbidden");
    let reader = client(json!("lab"), json!(["read", "other"]));
    reader.get("/v1/keys").ok();
    reader.send("POST", "/v1/programs", &[], b"{}").refused(403, "forbidden");
    refused(client(json!("lab"), json!("openid")), "has no scope");
    refused(client(json!("lab"), json!(null)), "has no scope");
    refused(client(json!(7), all()), "no text as its claim");
    refused(client(json!("../lab"), all()), "is not the name of a tenant");
    let problem = refused(client(json!("new"), all()), "no tenant \"new\"");
    assert!(problem["fix"].as_str().unwrap().contains("solinas admin tenant new --create"), "{problem}");
    store(&harness).create_tenant("new").unwrap();
    assert_eq!(client(json!("new"), all()).get("/v1/usage").ok()["tenant"], "new");
}

#[test]
fn a_tenant_of_an_issuer_sees_nothing_of_another() {
    let issuer = Issuer::new();
    let signer = Signer::ec();
    issuer.publish(&[signer.jwk("ec")]);
    let harness = service(&issuer, |_| {});
    store(&harness).create_tenant("other").unwrap();
    let [owner, stranger] =
        ["lab", "other"].map(|tenant| Client::new(&harness.client.url, &signer.token("ec", &issuer.claims(tenant))));
    sees_nothing(&stranger, &owner);
}

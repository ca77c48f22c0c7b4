//! The service with its records in PostgreSQL.

use crate::cluster::{Cluster, run_tests};
use crate::harness::{Client, Harness, LONG, for_workers, start};
use crate::work::{ask, end, granted, submit};
use serde_json::json;
use solinas_server::{Config, Database, Service, Store};
use std::time::{Duration, Instant};

/// Waits for a condition.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(120), "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn the_service_works_on_postgresql() {
    run_tests(&["audits::", "backup::", "jobs::", "kills::", "recovery::", "tenants::", "uploads::", "workers::"]);
}

/// Submits a long job, and returns its identity.
fn long_job(client: &Client, key: &str) -> String {
    client.submit(key, &client.long_job()).ok()["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_stop_of_postgresql_loses_nothing() {
    let Some(mut cluster) = Cluster::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let database = cluster.database().parse().unwrap();
    let harness = Harness::of(folder, |config| {
        config.database = Some(database);
        config.checkpoint = Duration::ZERO;
    });
    let client = &harness.client;
    let body = client.job("add", 1, 2);
    let id = long_job(client, "long");
    let progress = || harness.folder.path().join("checkpoints").join(format!("local-{id}.state"));
    let written = || progress().metadata().and_then(|file| file.modified()).ok();
    until("the job does not start", || written().is_some());

    cluster.stop();
    until("the service is still ready", || client.get("/readyz").status == 503);
    for answer in [client.get(&format!("/v1/jobs/{id}")), client.submit("meanwhile", &body), client.get("/v1/keys")] {
        answer.refused(503, "unavailable");
        assert!(answer.header("retry-after").is_some_and(|seconds| seconds.parse::<u64>().is_ok()));
    }
    assert_eq!(client.get("/healthz").status, 200);
    let before = written();
    until("the job stands still", || written() != before);
    // It ends, and keeps its result until there is a place for its record.
    until("the result is not stored", || {
        let last = written();
        std::thread::sleep(Duration::from_secs(1));
        last == written()
    });

    cluster.start();
    until("the service is not ready again", || client.get("/readyz").status == 200);
    let job = client.wait(&id);
    assert_eq!((&job["state"], &job["attempts"]), (&"succeeded".into(), &1.into()), "{job}");
    assert_eq!(client.result(&id), LONG);
    let metrics = String::from_utf8(client.get("/metrics").bytes).unwrap();
    for line in ["solinas_lease_lost_total 0", "solinas_attempts_total 1", "solinas_retries_total 0"] {
        assert!(metrics.lines().any(|found| found == line), "no line {line:?} in {metrics}");
    }
    let late = client.submit("meanwhile", &body).ok()["id"].as_str().unwrap().to_owned();
    client.wait(&late);
    assert_eq!(client.result(&late), "3");
    assert!(!progress().exists());
}

#[test]
fn leases_of_other_machines_outlive_a_stop_of_postgresql() {
    let Some(mut cluster) = Cluster::new() else { return };
    let database = cluster.database();
    let harness = Harness::of(tempfile::tempdir().unwrap(), |config| {
        for_workers(config);
        config.local_worker = false;
        config.database = Some(database.parse().unwrap());
    });
    let (client, worker) = (&harness.client, harness.worker());
    submit(client, "held");
    let (lease, _) = granted(&worker);
    let name = database.split('?').next().unwrap().rsplit('/').next().unwrap();
    // The lease runs out before PostgreSQL is back. No worker asks for a job until then.
    cluster.sql(name, "UPDATE job SET lease_until = 1");
    cluster.stop();
    until("the service is still ready", || client.get("/readyz").status == 503);
    cluster.start();
    until("the service is not ready again", || client.get("/readyz").status == 200);
    assert_eq!(ask(&worker, 0).status, 204, "the job has a worker");
    worker.post(&format!("{lease}/complete"), &end(json!("paused"))).ok();
}

#[test]
fn records_move_to_postgresql_and_back() {
    let Some(cluster) = Cluster::new() else { return };
    let (mut harness, address) = (Harness::new(), cluster.database());
    let (database, folder) = (address.parse::<Database>().unwrap(), harness.folder.path().to_path_buf());
    let client = harness.client.clone();
    let body = client.job("add", 200, 100);
    let id = client.submit("one", &body).ok()["id"].as_str().unwrap().to_owned();
    let done = client.wait(&id);
    let queued = long_job(&client, "two");
    let keys_before = client.get("/v1/keys").ok();
    let error = Store::move_to(&folder, &database).unwrap_err().to_string();
    assert!(error.contains("another process serves"), "{error}");
    harness.service.take().unwrap().stop();

    let moved = Store::move_to(&folder, &database).unwrap();
    assert!(moved.tables >= 9 && moved.rows > 10, "{moved:?}");
    assert!(!folder.join("solinas.db").exists() && folder.join("solinas.db.moved").exists());
    let error = Store::move_to(&folder, &database).unwrap_err().to_string();
    assert!(error.contains("are in the database") && error.contains("already"), "{error}");
    let store = Store::open(&folder).unwrap();
    let checked = store.check().unwrap();
    assert!(checked.contents.blobs > 5 && checked.missing.is_empty() && checked.damaged.is_empty(), "{checked:?}");

    let service = start(&folder, |_| {});
    assert!(service.first_token().is_none());
    let client = Client::new(&format!("http://{}", service.address()), &client.token);
    assert_eq!(client.get(&format!("/v1/jobs/{id}")).ok(), done);
    assert_eq!(client.result(&id), "44");
    assert_eq!(client.get("/v1/keys").ok(), keys_before);
    assert_eq!(client.submit("one", &body).ok()["id"], *id, "the same request is the same job");
    client.wait(&queued);
    assert_eq!(client.result(&queued), LONG);

    let place = tempfile::tempdir().unwrap();
    let (file, restored) = (place.path().join("backup.tar"), tempfile::tempdir().unwrap());
    let contents = store.backup(&file).unwrap();
    service.stop();
    assert_eq!(Store::restore(&file, restored.path()).unwrap(), contents);
    assert!(restored.path().join("solinas.db").exists() && !restored.path().join("database").exists());
    let back = Harness::on(restored, &client.token);
    for id in [&id, &queued] {
        let job = back.client.get(&format!("/v1/jobs/{id}")).ok();
        assert!(job["state"] == "succeeded" && job["results"][0]["digest"].is_string(), "{job}");
    }
    assert_eq!(back.client.result(&queued), LONG);
}

#[test]
fn a_database_of_postgresql_has_one_store_and_one_service() {
    let Some(cluster) = Cluster::new() else { return };
    let [first, second] = [(); 2].map(|()| cluster.database());
    let refused = |folder: &std::path::Path, address: &str| {
        let mut config = Config::new(folder.to_path_buf());
        config.address.set_port(0);
        config.database = Some(address.parse().unwrap());
        Service::start(config).unwrap_err().to_string()
    };
    let mut harness = Harness::of(tempfile::tempdir().unwrap(), |config| {
        config.database = Some(first.parse().unwrap());
    });
    let other = tempfile::tempdir().unwrap();
    assert!(refused(other.path(), &first).contains("has the records of a store already"));
    // A copy of the folder, as on another machine.
    std::fs::copy(harness.folder.path().join("database"), other.path().join("database")).unwrap();
    assert!(refused(other.path(), &first).contains("another process serves the store"));
    // Commands of the operator work meanwhile.
    assert_eq!(Store::open(harness.folder.path()).unwrap().tokens().unwrap().len(), 1);
    harness.restart(|config| config.database = Some(first.parse().unwrap()));
    harness.service.take().unwrap().stop();
    assert!(refused(harness.folder.path(), &second).contains("are in the database"));
    let sqlite = tempfile::tempdir().unwrap();
    Store::open_or_make(sqlite.path()).unwrap();
    assert!(refused(sqlite.path(), &second).contains("admin move --to"));

    let hidden = "postgres://solinas:s3cret@127.0.0.1:1/solinas";
    let error = refused(tempfile::tempdir().unwrap().path(), hidden);
    assert!(error.contains("127.0.0.1:1") && !error.contains("s3cret"), "{error}");
    let database: Database = hidden.parse().unwrap();
    assert!(!format!("{database} {database:?}").contains("s3cret"));
    for malformed in
        ["", "s3cret", "postgres://u:s3cret@host", "postgres://u:s3cret@host/d?s3cret=1", "mysql://s3cret/d"]
    {
        let error = malformed.parse::<Database>().unwrap_err().to_string();
        assert!(error.contains("malformed") && !error.contains("s3cret"), "{error}");
    }
}

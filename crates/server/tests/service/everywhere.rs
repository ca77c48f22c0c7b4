//! Random programs in this process and on services of every kind: right, and with the same bytes.

#[path = "../../../circuits/tests/common/programs.rs"]
mod programs;

use crate::cluster::Cluster;
use crate::harness::{Client, Harness, keys};
use crate::workers::Running;
use serde_json::{Value, json};
use solinas_engine::{Ciphertext, Control, Natural, Plain, Program, Server, ServerKey, Work};
use solinas_server::{Config, Service};

/// A program with its encrypted inputs, and its results in the clear.
struct Case {
    program: Program,
    inputs: Vec<Ciphertext>,
    want: Vec<Natural>,
}

impl Case {
    fn new(seed: u64, effort: usize) -> Self {
        let mut rng = programs::rng(seed);
        let most = programs::Limits { widest: 8, operations: 5, effort };
        let program = programs::program(&mut rng, most).unwrap();
        let values = programs::inputs(&mut rng, &program);
        let encrypt = |(input, value): (&solinas_circuits::program::Input, &Natural)| {
            keys().0.encrypt(&Plain::new(input.ty, None, vec![value.clone()]).unwrap()).unwrap()
        };
        let inputs = program.inputs.iter().zip(&values).map(encrypt).collect();
        Self { want: program.evaluate(&values).unwrap(), program, inputs }
    }

    /// The results of a server in this process.
    fn here(&self, server: &Server) -> Vec<Vec<u8>> {
        let results = server.run(Work::program(&self.program, &self.inputs), &Control::default()).unwrap();
        results.iter().map(|result| result.to_bytes().unwrap()).collect()
    }

    /// Submits the program to a service, and returns the identity of the job.
    fn submit(&self, client: &Client, key: &str, name: &str) -> String {
        let program = self.program.to_json(name).unwrap();
        let program = client.send("POST", "/v1/programs", &[], program.as_bytes()).ok()["digest"].clone();
        let upload = |input: &Ciphertext| json!({ "blob": client.upload(&input.to_bytes().unwrap()) });
        let inputs: Vec<Value> = self.inputs.iter().map(upload).collect();
        let body = json!({ "key": key, "program": program, "inputs": inputs });
        client.submit(name, &body).ok()["id"].as_str().unwrap().to_owned()
    }

    fn results(&self, client: &Client, id: &str) -> Vec<Vec<u8>> {
        let job = client.wait(id);
        assert_eq!(job["state"], "succeeded", "{job}");
        let result = |number: usize| client.get(&format!("/v1/jobs/{id}/results/{number}")).bytes;
        (0..self.want.len()).map(result).collect()
    }
}

#[test]
fn random_programs_have_the_same_bytes_everywhere() {
    let count = solinas_testing::rounds(6, 300) as u64;
    let key = ServerKey::from_bytes(&keys().1).unwrap();
    let server = Server::new(&key, Some(2)).unwrap();
    let elsewhere = Harness::for_workers(|config| config.local_worker = false);
    let worker = Running::start(&elsewhere.worker());
    let cluster = Cluster::new();
    let in_postgresql = cluster.as_ref().map(|cluster| {
        let database = cluster.database().parse().unwrap();
        Harness::of(tempfile::tempdir().unwrap(), |config| config.database = Some(database))
    });
    let services: Vec<_> = [Harness::new(), elsewhere].into_iter().chain(in_postgresql).collect();
    let registered: Vec<_> = services.iter().map(|service| service.client.register()).collect();
    for seed in 0..count {
        let case = Case::new(seed, 30);
        let submit = |(service, key): (&Harness, &String)| case.submit(&service.client, key, &format!("seed {seed}"));
        let jobs: Vec<_> = services.iter().zip(&registered).map(submit).collect();
        let here = case.here(&server);
        for (result, want) in here.iter().zip(&case.want) {
            let plain = keys().0.decrypt(&Ciphertext::from_bytes(result).unwrap()).unwrap();
            assert_eq!(plain.values, std::slice::from_ref(want), "seed {seed}{}", programs::listing(&case.program));
        }
        for (place, (service, job)) in services.iter().zip(&jobs).enumerate() {
            assert!(case.results(&service.client, job) == here, "seed {seed}, service {place}: other bytes");
        }
    }
    worker.stop();
}

#[test]
fn services_and_workers_on_devices_give_the_bytes_of_the_processor() {
    let key = ServerKey::from_bytes(&keys().1).unwrap();
    let server = Server::new(&key, Some(2)).unwrap();
    let service = Harness::with(|config| config.device = Some("emulated".parse().unwrap()));
    let elsewhere = Harness::for_workers(|config| config.local_worker = false);
    let worker = Running::on(&elsewhere.worker(), "emulated");
    assert_eq!(service.client.get("/v1/version").ok()["device"], "emulated");
    let case = Case::new(1, 3);
    let here = case.here(&server);
    for service in [&service, &elsewhere] {
        let key = service.client.register();
        let job = case.submit(&service.client, &key, "on a device");
        assert!(case.results(&service.client, &job) == here, "other bytes");
    }
    worker.stop();
}

#[test]
fn a_service_on_a_missing_device_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::new(folder.path().to_path_buf());
    config.address.set_port(0);
    config.device = Some("cuda:99".parse().unwrap());
    let error = Service::start(config).unwrap_err().to_string();
    assert!(error.contains("CUDA") && error.contains("cpu"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

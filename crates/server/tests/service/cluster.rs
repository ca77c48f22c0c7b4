//! A PostgreSQL of the tests' own. It listens on a socket in its folder alone.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The variable with the folder of the sockets, for tests that run once more on PostgreSQL.
const SOCKETS: &str = "SOLINAS_TEST_POSTGRES";

/// The folder of the commands of PostgreSQL.
fn commands() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let version = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok().filter(|version| *version >= 15);
    let debian = versions.filter_map(|entry| Some((version(&entry.path())?, entry.path().join("bin"))));
    let newest = debian.max().map(|(_, folder)| folder);
    let paths = std::env::var_os("PATH").unwrap_or_default();
    newest.or_else(|| std::env::split_paths(&paths).find(|folder| folder.join("initdb").exists()))
}

/// The user and the group that PostgreSQL runs as. It refuses root.
fn user() -> Option<(u32, u32)> {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let fields: Vec<_> = users.lines().find(|line| line.starts_with("postgres:"))?.split(':').collect();
    Some((fields[2].parse().ok()?, fields[3].parse().ok()?))
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| std::os::unix::fs::MetadataExt::uid(&process) == 0)
}

fn checked(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs statements as the owner of all databases.
fn sql(sockets: &Path, database: &str, text: &str) -> Output {
    let mut psql = Command::new(commands().unwrap().join("psql"));
    psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--username=postgres", "--command", text]);
    psql.arg("--host").arg(sockets).arg("--dbname").arg(database).output().unwrap()
}

/// Makes an empty database, and returns its address.
fn create(sockets: &Path) -> String {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let name = format!("store_{}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
    checked(sql(sockets, "postgres", &format!("CREATE DATABASE {name} OWNER solinas")));
    format!("postgres://solinas@/{name}?host={}", sockets.display())
}

/// Names a database of PostgreSQL in the folder of a new store, if the tests run on PostgreSQL.
pub(crate) fn prepare(store: &Path) {
    if let Some(sockets) = std::env::var_os(SOCKETS) {
        fs::write(store.join("database"), create(Path::new(&sockets))).unwrap();
    }
}

/// Runs tests of this executable once more, on PostgreSQL. `names` are parts of their names.
pub(crate) fn run_tests(names: &[&str]) {
    let Some(cluster) = Cluster::new() else { return };
    let mut tests = Command::new(std::env::current_exe().unwrap());
    let output = tests.args(names).args(["--skip", "postgresql"]).env(SOCKETS, cluster.folder.path()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    println!("{text}");
    // The tests did use it.
    let databases = cluster.sql("postgres", "SELECT COUNT(*) FROM pg_database WHERE datname LIKE 'store%'");
    assert_ne!(databases.trim(), "0");
}

/// A PostgreSQL that ends with this value.
pub(crate) struct Cluster {
    folder: tempfile::TempDir,
    server: Option<Child>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Cluster {
    /// Makes one. None where PostgreSQL is not installed.
    pub(crate) fn new() -> Option<Self> {
        let Some(bin) = commands().filter(|_| !is_root() || user().is_some()) else {
            solinas_testing::left_out("postgres", "PostgreSQL 15 is not installed");
            return None;
        };
        // The name of a socket is short, and another user reads it.
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        if let Some((user, group)) = user().filter(|_| is_root()) {
            chown(folder.path(), Some(user), Some(group)).unwrap();
        }
        let mut cluster = Self { folder, server: None };
        let mut make = cluster.command(&bin.join("initdb"));
        make.args(["--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"]);
        checked(make.arg("--pgdata").arg(cluster.data()).output().unwrap());
        cluster.start();
        cluster.sql("postgres", "CREATE ROLE solinas LOGIN");
        Some(cluster)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn command(&self, name: &Path) -> Command {
        let mut command = Command::new(name);
        command.current_dir(self.folder.path());
        if let Some((user, group)) = user().filter(|_| is_root()) {
            command.uid(user).gid(group);
        }
        command
    }

    /// Starts it, and waits until it answers.
    pub(crate) fn start(&mut self) {
        let mut server = self.command(&commands().unwrap().join("postgres"));
        server.arg("-D").arg(self.data()).arg("-k").arg(self.folder.path());
        server.args(["-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200"]);
        self.server = Some(server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let begin = Instant::now();
        while !sql(self.folder.path(), "postgres", "SELECT 1").status.success() {
            assert!(begin.elapsed() < Duration::from_secs(60), "PostgreSQL does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Stops it at once, as a crash would.
    pub(crate) fn stop(&mut self) {
        if let Some(mut server) = self.server.take() {
            let process = rustix::process::Pid::from_child(&server);
            rustix::process::kill_process(process, rustix::process::Signal::QUIT).unwrap();
            server.wait().unwrap();
        }
    }

    /// Makes an empty database, and returns its address.
    pub(crate) fn database(&self) -> String {
        create(self.folder.path())
    }

    /// Runs statements as the owner of all databases, and returns what they print.
    pub(crate) fn sql(&self, database: &str, text: &str) -> String {
        checked(sql(self.folder.path(), database, text))
    }
}

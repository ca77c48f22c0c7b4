//! `solinas web`: the page of a service, served by this program.

use crate::connection::{ServiceArgs, connect, token};
use crate::error::{Result, usage};
use crate::output::Output;
use crate::progress::interruptible;
use serde::Serialize;
use solinas_server::WebPage;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  export SOLINAS_SERVER=https://fhe.example.org SOLINAS_TOKEN=slk_...
  solinas web
  solinas web --addr 127.0.0.1:0

A service sends its page itself, and could send one that steals keys. This page comes from your own program, which passes requests on to the service.
SOLINAS_SERVER is the address of the service, and SOLINAS_TOKEN is the token that its operator gave you.
The printed link holds the token. Only this machine reaches the page. Ctrl-C stops it.
Keep no keys in the browser if the machine has other users: after Ctrl-C, one of them could serve another page at the same address.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Address of this machine, and port; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7472", value_parser = crate::serve::address)]
    addr: SocketAddr,
    #[command(flatten)]
    service: ServiceArgs,
}

/// What is printed when the page is ready.
#[derive(Serialize)]
struct Started<'a> {
    address: String,
    link: String,
    service: &'a str,
}

impl Started<'_> {
    fn text(&self) -> String {
        format!("The page of {}, with the token:\n  {}\nCtrl-C stops it.\n", self.service, self.link)
    }
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<()> {
    if !args.addr.ip().is_loopback() {
        return Err(usage(
            format!("{} is reached by other machines, and the page speaks HTTP without encryption", args.addr),
            "take an address of this machine alone, such as 127.0.0.1:7472",
        ));
    }
    let remote = connect(&args.service)?;
    if remote.url().contains('@') {
        return Err(usage("the address of the service names a user", "set SOLINAS_SERVER to an address without one"));
    }
    // A wrong address or token is found here, and not by the page.
    remote.usage()?;
    let interrupted = interruptible()?;
    let page = WebPage::start(args.addr, remote.url())?;
    let address = format!("http://{}", page.address());
    let link = format!("{address}/#token={}", token()?);
    let started = Started { address, link, service: remote.url() };
    out.result(&started, || started.text())?;
    while !interrupted.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(100));
    }
    page.stop();
    Ok(())
}

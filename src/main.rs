//! The command-line program; all of it is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    match args.next() {
        Some(first) if first == agentgate::confine::stub::COMMAND => agentgate::confine::stub::main(args.collect()),
        _ => ExitCode::from(agentgate::exit::Exit::Usage),
    }
}

//! Whether a lock keeps a second process out, tried with one.

use std::path::Path;
use std::time::Duration;

use super::report::Report;
use super::trial;
use crate::exit::{Exit, Stop};
use crate::git::repo::Checkout;
use crate::git::shell;
use crate::lock::{CloneLock, FileLock};
use crate::process::Tool;

/// How long the second process may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// File systems that are shared between machines or stacked on others, from `linux/magic.h`.
const SHARED: &[(u64, &str)] = &[
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "FUSE"),
    (0x00c3_6400, "Ceph"),
    (0x5346_414f, "AFS"),
    (0x0bd0_0bd0, "Lustre"),
];
const OVERLAY: u64 = 0x794c_7630;

/// The name of a file system that is shared between machines, or may be.
pub fn shared_file_system(path: &Path) -> Option<&'static str> {
    let magic = magic(path)?;
    SHARED.iter().find(|(known, _)| *known == magic).map(|(_, name)| *name)
}

fn magic(path: &Path) -> Option<u64> {
    // 32 bits, whatever the type of the field is on this machine.
    let stat = rustix::fs::statfs(path).ok()?;
    #[expect(clippy::cast_sign_loss, reason = "a bit pattern, not a number")]
    Some(stat.f_type as u64 & 0xffff_ffff)
}

/// Takes a lock in the clone's git dir and lets a second process try.
pub fn lock(report: &mut Report, checkout: &Checkout) {
    let name = "lock";
    let common = &checkout.common;
    let path = common.join(format!("agent-jobs.doctor-{}.lock", std::process::id()));
    let tried = second_process(&path, common);
    let _ = std::fs::remove_file(&path);
    let place = format!("of {}", common.join(CloneLock::FILE).display());
    match tried {
        Err(what) => {
            let stop = Stop::new(Exit::Internal, format!("{what}, so two jobs could run in one clone"));
            let hint = format!("findmnt --target {}", shell(common));
            report.fail(name, &stop.hint(hint).hint("move the clone to a local disk"));
            return;
        }
        Ok(()) => match shared_file_system(common) {
            Some(kind) => report.warn(
                name,
                format!("a second process was refused here, but {place} on {kind} another machine may not be"),
                &["run jobs of this clone on one machine only, or move it to a local disk".to_owned()],
            ),
            None if magic(common) == Some(OVERLAY) => {
                report.ok(
                    name,
                    format!("a second process was refused ({place}; overlay file system)"),
                );
            }
            None => report.ok(name, format!("a second process was refused ({place})")),
        },
    }
    if let Some(who) = CloneLock::in_use(common) {
        let hint = match CloneLock::holder(common) {
            Some(_) => "agentgate status shows it".to_owned(),
            None => format!(
                "it is no job of agentgate; fuser -v {} names it",
                shell(&common.join(CloneLock::FILE))
            ),
        };
        report.warn(
            name,
            format!("{who} now: another job would end with 13"),
            &[format!("{hint}; --wait queues behind it")],
        );
    }
}

fn second_process(path: &Path, cwd: &Path) -> Result<(), String> {
    let held = FileLock::try_exclusive(path).map_err(|error| error.to_string())?;
    let ask = || {
        let outcome = Tool::own(cwd).arg(trial::LOCK).arg(path).time_limit(PATIENCE).run();
        let said = outcome.map(|outcome| String::from_utf8_lossy(&outcome.stdout).into_owned());
        said.map_err(|error| format!("the lock could not be tried: {error}"))
    };
    let while_held = ask()?;
    if while_held != trial::HELD {
        return Err(match while_held.as_str() {
            trial::FREE => format!("a lock in {} kept a second process out of nothing", cwd.display()),
            _ => format!("a second process could not try a lock in {}", cwd.display()),
        });
    }
    drop(held);
    if ask()? != trial::FREE {
        return Err(format!("a lock in {} that was given back is still held", cwd.display()));
    }
    Ok(())
}

//! The process that has the job: named in a refusal, or ended where the person says so.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::commands::following::Look;
use crate::commands::{Watch, typed};
use crate::exit::{Exit, Stop};
use crate::git::repo::Checkout;
use crate::git::shell;
use crate::store::{self, Folder};

/// How long a holder that was ended may take to be gone.
const GONE: Duration = Duration::from_secs(10);
/// SIGKILL
const KILL: i32 = 9;

/// The refusal of a job that another process has.
pub(super) fn owned(checkout: &Checkout, id: &str, look: &Look) -> Stop {
    let (agentgate, quoted) = (typed(checkout), shell_words::quote(id));
    let owner = look.owner.as_ref().filter(|owner| owner.alive());
    match owner {
        Some(owner) if owner.is_stopped() => Stop::new(
            Exit::Locked,
            format!(
                "the process of job {id} is stopped (pid {}), and it still has the job",
                owner.pid
            ),
        )
        .hint(format!("kill -CONT {} lets it go on", owner.pid))
        .hint(format!(
            "{agentgate} resume --take-over {quoted} ends it and goes on from its last finished step"
        )),
        Some(owner) => Stop::new(Exit::Locked, format!("job {id} is being worked on (pid {})", owner.pid))
            .hint(format!("{agentgate} attach {quoted} shows what it does"))
            .hint(format!("{agentgate} stop {quoted} ends it")),
        None => Stop::new(
            Exit::Locked,
            format!("job {id} is being worked on by a process that cannot be seen from here"),
        )
        .hint("a `land`, `drop` or `open` of this moment, or a process in another container")
        .hint(format!("{agentgate} status shows whether it goes on")),
    }
}

/// Ends the recorded holder, and nobody else, and waits until the kernel has released its lock.
pub(super) fn end_owner(folder: &Folder, look: &Look, watch: &dyn Watch) -> Result<()> {
    let id = &folder.id;
    let Some((owner, process)) = look.owner.as_ref().and_then(|owner| Some((owner, owner.open().ok()??))) else {
        return Err(Stop::new(
            Exit::Locked,
            format!(
                "job {id} is held by a process that is not the one its log names, or that cannot be seen from here"
            ),
        )
        .hint("nothing was ended; a `land`, `drop` or `open` of this moment holds it only for a moment: try again")
        .into());
    };
    process
        .signal(KILL)
        .with_context(|| format!("cannot end the process of job {id} (pid {})", owner.pid))?;
    watch.step(&format!(
        "taken over: the process that had the job (pid {}) was ended",
        owner.pid
    ));
    let started = Instant::now();
    while folder.is_owned()? {
        if started.elapsed() > GONE {
            let stop = format!(
                "job {id} is still locked {} s after its process was ended",
                GONE.as_secs()
            );
            return Err(Stop::new(Exit::Locked, stop)
                .hint(format!(
                    "fuser -v {} names who has it",
                    shell(&folder.path.join(store::OWNER_LOCK))
                ))
                .into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

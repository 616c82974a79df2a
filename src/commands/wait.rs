//! `agentgate wait`: until jobs are over. Takes no lock and changes nothing.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::following::{Look, Stand, dead, rest};
use super::{Surroundings, job_folder, typed};
use crate::exit::{Exit, Stop};
use crate::store::{Folder, Store};
use crate::task::format_duration;

/// A job that is over.
#[derive(Clone, Debug)]
pub struct Row {
    /// Job id.
    pub job_id: String,
    /// What its `run` returned; 23 where its process is gone and it never ended.
    pub exit: Exit,
    /// Why there is none, for a dead one.
    pub dead: Option<Stop>,
}

/// All that were waited for, in the order in which they were named.
#[derive(Clone, Debug)]
pub struct Report {
    /// The jobs.
    pub rows: Vec<Row>,
}

impl Report {
    /// 0 where all are, else the first other one.
    pub fn exit(&self) -> Exit {
        let codes = self.rows.iter().map(|row| row.exit);
        codes.into_iter().find(|exit| *exit != Exit::Ok).unwrap_or(Exit::Ok)
    }
}

/// Waits until each of these jobs is over, at most `timeout` seconds.
///
/// # Errors
/// Exit 23 at once for a job that is not there, 64 for an id that cannot be one, 13 when the time is over.
pub fn wait(surroundings: &Surroundings, ids: &[String], timeout: Option<u64>) -> Result<Report> {
    let started = Instant::now();
    let checkout = surroundings.checkout()?;
    let agentgate = typed(&checkout);
    let store = Store::of(&checkout.common);
    let folders = ids
        .iter()
        .map(|id| job_folder(&store, id))
        .collect::<Result<Vec<Folder>>>()?;
    let mut rows: Vec<Option<Row>> = vec![None; folders.len()];
    loop {
        for (folder, row) in folders.iter().zip(&mut rows).filter(|(_, row)| row.is_none()) {
            *row = over(folder, &agentgate)?;
        }
        if rows.iter().all(Option::is_some) {
            return Ok(Report {
                rows: rows.into_iter().flatten().collect(),
            });
        }
        if let Some(seconds) = timeout
            && started.elapsed() >= Duration::from_secs(seconds)
        {
            let left = folders.iter().zip(&rows).filter(|(_, row)| row.is_none());
            let left: Vec<&str> = left.map(|(folder, _)| folder.id.as_str()).collect();
            let stop = format!("still running after {}: {}", format_duration(seconds), left.join(", "));
            let mut stop = Stop::new(Exit::Locked, stop);
            for id in left {
                stop = stop.hint(format!(
                    "{agentgate} attach {id} shows what it does",
                    id = shell_words::quote(id)
                ));
            }
            return Err(stop.into());
        }
        rest();
    }
}

fn over(folder: &Folder, agentgate: &str) -> Result<Option<Row>> {
    let look = Look::at(folder)?;
    let (exit, dead) = match look.stand {
        Stand::Running => return Ok(None),
        Stand::Over(exit, _) => (exit, None),
        Stand::Dead => (Exit::WrongState, Some(dead(agentgate, &folder.id, &look.state))),
    };
    Ok(Some(Row {
        job_id: folder.id.clone(),
        exit,
        dead,
    }))
}

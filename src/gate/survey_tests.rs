use std::collections::HashMap;
use std::sync::Mutex;

use super::*;
use crate::gate::tree::{Entry, Kind};
use crate::gate::{Unreadable, rules};

/// A flat tree that counts how often each blob is read, in whichever way.
struct Counted {
    root: Oid,
    entries: Vec<Entry>,
    blobs: HashMap<Oid, Vec<u8>>,
    reads: Mutex<HashMap<Oid, usize>>,
    threads: usize,
    /// Whether several threads may read it.
    is_shared: bool,
}

fn id(kind: u8, number: usize) -> Oid {
    let mut bytes = [kind; 20];
    bytes[..8].copy_from_slice(&(number as u64).to_be_bytes());
    Oid::from_bytes(&bytes).expect("20 bytes fit")
}

impl Counted {
    fn new(version: u8, files: &[(String, String)]) -> Counted {
        let mut tree = Counted {
            root: id(version, usize::MAX),
            entries: Vec::new(),
            blobs: HashMap::new(),
            reads: Mutex::default(),
            threads: 2,
            is_shared: true,
        };
        for (number, (name, text)) in files.iter().enumerate() {
            let id = id(version, number);
            tree.entries.push(Entry {
                name: name.clone().into_bytes(),
                kind: Kind::File,
                id,
            });
            tree.blobs.insert(id, text.clone().into_bytes());
        }
        tree
    }

    fn count(&self, id: &Oid) -> Option<Vec<u8>> {
        let content = self.blobs.get(id)?.clone();
        *self.reads.lock().expect("no thread panicked").entry(*id).or_default() += 1;
        Some(content)
    }

    /// How often the blobs were read, the one that was read most first.
    fn reads(&self) -> Vec<usize> {
        let mut counts: Vec<usize> = self
            .reads
            .lock()
            .expect("no thread panicked")
            .values()
            .copied()
            .collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts
    }
}

impl Blobs for Counted {
    fn content(&self, id: &Oid, limit: u64) -> Option<Vec<u8>> {
        self.count(id).filter(|content| content.len() as u64 <= limit)
    }

    fn order(&self, ids: &[Oid]) -> Vec<u64> {
        (0..ids.len() as u64).rev().collect()
    }

    fn threads(&self) -> usize {
        self.threads
    }
}

impl Tree for Counted {
    fn root(&self) -> Oid {
        self.root
    }

    fn entries(&self, _folder: &Oid) -> Result<Vec<Entry>, Unreadable> {
        Ok(self.entries.clone())
    }

    fn blob(&self, id: &Oid) -> Result<Vec<u8>, Unreadable> {
        self.count(id).ok_or_else(|| Unreadable {
            what: format!("blob {id}"),
        })
    }

    fn blob_size(&self, id: &Oid) -> Result<u64, Unreadable> {
        Ok(self.blobs[id].len() as u64)
    }

    fn blobs(&self) -> Option<Box<dyn Blobs + '_>> {
        struct Shared<'a>(&'a Counted);
        impl Blobs for Shared<'_> {
            fn content(&self, id: &Oid, limit: u64) -> Option<Vec<u8>> {
                self.0.content(id, limit)
            }
            fn order(&self, ids: &[Oid]) -> Vec<u64> {
                self.0.order(ids)
            }
            fn threads(&self) -> usize {
                self.0.threads()
            }
        }
        self.is_shared.then(|| Box::new(Shared(self)) as Box<dyn Blobs>)
    }
}

const POLICY: &str = "version: 1\neverywhere:\n  forbidden_imports: [redis, celery]\n";

fn files(version: usize, import: &str) -> Vec<(String, String)> {
    let text = |number: usize| format!("import os\n{import}\n# version {version} of {number}\n");
    (0..200)
        .map(|number| (format!("mod_{number:03}.py"), text(number)))
        .collect()
}

/// A tree with a policy and nothing else.
struct Policed;

impl Tree for Policed {
    fn root(&self) -> Oid {
        id(9, 0)
    }

    fn entries(&self, folder: &Oid) -> Result<Vec<Entry>, Unreadable> {
        let (name, kind, number) = match *folder == self.root() {
            true => (&b"architecture"[..], Kind::Tree, 1),
            false => (&b"invariants.yml"[..], Kind::File, 2),
        };
        Ok(vec![Entry {
            name: name.to_vec(),
            kind,
            id: id(9, number),
        }])
    }

    fn blob(&self, _id: &Oid) -> Result<Vec<u8>, Unreadable> {
        Ok(POLICY.as_bytes().to_vec())
    }

    fn blob_size(&self, _id: &Oid) -> Result<u64, Unreadable> {
        Ok(POLICY.len() as u64)
    }
}

fn policy() -> Policy {
    Policy::of(&Policed).expect("a policy")
}

#[test]
fn a_clean_change_reads_each_new_blob_once_and_no_old_one() {
    let (base, candidate) = (
        Counted::new(1, &files(1, "")),
        Counted::new(2, &files(2, "import json")),
    );
    let verdict = rules::judge(&policy(), &base, &candidate, None).expect("a verdict");
    assert_eq!(verdict.findings, []);
    assert_eq!(verdict.inspected.files.len(), 200);
    assert_eq!(candidate.reads(), [1; 200]);
    assert_eq!(base.reads(), [0; 0]);
}

#[test]
fn threads_and_their_order_change_nothing_of_a_verdict() {
    let mut texts = files(2, "import redis");
    texts[7].1 = "x = 'never ends\n\"\"\"".to_owned();
    texts[8].1 = "a = '\u{202e}'\n".to_owned();
    texts[9] = ("run".to_owned(), "#!/usr/bin/env python3\nimport celery\n".to_owned());
    let judge = |threads, is_shared| {
        let base = Counted::new(1, &files(1, ""));
        let candidate = Counted {
            threads,
            is_shared,
            ..Counted::new(2, &texts)
        };
        rules::judge(&policy(), &base, &candidate, None).expect("a verdict")
    };
    let alone = judge(1, false);
    assert!(alone.findings.len() > 195, "{}", alone.findings.len());
    assert_eq!(judge(1, true), alone);
    assert_eq!(judge(4, true), alone);
}

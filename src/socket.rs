//! The only door to Unix sockets: one that listens in a job's private folder, and those who come to it.
//!
//! Invariants: only a process that descends from this one is served, so that an agent of another job, which has
//! the same user, reaches nothing here; the folder is opened first and the socket named through it, so that a long
//! path is no obstacle (`sun_path` has 108 bytes); once [`Server::stop`] returns nobody is served any more, and
//! nothing waits for a client.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rustix::fs::OFlags;
use rustix::net::sockopt::socket_peercred;

use crate::process::descends_from_us;

/// Most clients at a time.
const CLIENTS: usize = 16;
/// Bytes read at a time.
const CHUNK: usize = 64 << 10;

/// The folder of a socket, and the name by which the kernel finds the socket in it whatever the folder's own path.
fn through(path: &Path) -> io::Result<(File, PathBuf)> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no path of a socket"));
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY;
    let folder = File::options()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(folder)?;
    let short = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name);
    Ok((folder, short))
}

/// Connects to a socket.
///
/// # Errors
/// It is not there, or nobody listens.
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    let (_folder, short) = through(path)?;
    UnixStream::connect(short)
}

/// Whoever speaks with the clients, each in a thread of its own.
pub trait Service: Send + Sync + 'static {
    /// What one client's conversation is held with.
    type Talk: Talk;
    /// Another client has come.
    fn welcome(&self) -> Self::Talk;
}

/// One client's conversation.
pub trait Talk {
    /// Takes what it has sent and gives what it is sent.
    fn hear(&mut self, bytes: &[u8]) -> Vec<u8>;
}

/// A socket that is served until it is stopped.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    listener: UnixListener,
    over: AtomicBool,
    clients: Mutex<Vec<(UnixStream, JoinHandle<()>)>>,
}

impl Server {
    /// Listens at `path`, where nothing is yet.
    ///
    /// # Errors
    /// The socket or the thread cannot be made.
    pub fn start(path: &Path, service: impl Service) -> io::Result<Server> {
        let (folder, short) = through(path)?;
        let listener = UnixListener::bind(&short)?;
        std::fs::set_permissions(&short, std::fs::Permissions::from_mode(0o600))?;
        drop(folder);
        let shared = Arc::new(Shared {
            listener,
            over: AtomicBool::new(false),
            clients: Mutex::default(),
        });
        let (theirs, service) = (Arc::clone(&shared), Arc::new(service));
        let accepting = std::thread::Builder::new()
            .name("mcp".into())
            .spawn(move || accept(&theirs, &service))?;
        Ok(Server {
            shared,
            accepting: Some(accepting),
        })
    }

    /// Ends every conversation. What a service waits for it must be let go of before. The file stays: whether it is
    /// still this one's, the caller knows.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let Some(accepting) = self.accepting.take() else {
            return;
        };
        self.shared.over.store(true, Ordering::SeqCst);
        // Linux wakes whoever waits in accept(2).
        let _ = rustix::net::shutdown(&self.shared.listener, rustix::net::Shutdown::Both);
        let _ = accepting.join();
        let clients = std::mem::take(&mut *lock(&self.shared.clients));
        for (stream, _) in &clients {
            let _ = stream.shutdown(Shutdown::Both);
        }
        for (_, thread) in clients {
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept<S: Service>(shared: &Arc<Shared>, service: &Arc<S>) {
    loop {
        let accepted = shared.listener.accept();
        if shared.over.load(Ordering::SeqCst) {
            return;
        }
        let Ok((stream, _)) = accepted else {
            // Out of descriptors, for one: what is open now is served on.
            std::thread::sleep(std::time::Duration::from_millis(50));
            continue;
        };
        let mut clients = lock(&shared.clients);
        clients.retain(|(_, thread)| !thread.is_finished());
        if clients.len() >= CLIENTS || !is_ours(&stream) {
            continue;
        }
        let Ok(ours) = stream.try_clone() else { continue };
        let service = Arc::clone(service);
        let thread = std::thread::Builder::new()
            .name("mcp client".into())
            .spawn(move || converse(stream, service.welcome()));
        if let Ok(thread) = thread {
            clients.push((ours, thread));
        }
    }
}

/// Whether the process at the other end is one of those that this one started.
fn is_ours(stream: &UnixStream) -> bool {
    socket_peercred(stream)
        .is_ok_and(|peer| peer.uid == rustix::process::geteuid() && descends_from_us(peer.pid.as_raw_pid()))
}

fn converse(mut stream: UnixStream, mut talk: impl Talk) {
    let mut buffer = vec![0; CHUNK];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                let said = talk.hear(&buffer[..read]);
                if stream.write_all(&said).is_err() {
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
}

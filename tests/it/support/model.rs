//! A model server on 127.0.0.1 for agents under test: it follows a script instead of thinking, keeps
//! what it was asked, and ends with the test.

mod answers;
mod http;
mod tests;

use std::io::BufReader;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

pub use http::Request;

/// Connections served at once; one more is closed unread.
const CONNECTIONS: usize = 32;

/// A connection on which nothing comes for this long is closed.
const SILENCE: Duration = Duration::from_secs(120);

/// What the model does with whatever it is asked.
#[derive(Clone, Debug)]
pub enum Script {
    /// Has the agent's shell run this command once, then says that all is done. An agent that has no
    /// tools and reads edits from the text gets one that makes `file` with `text` in it.
    Works {
        command: String,
        file: String,
        text: String,
    },
    /// Declines in words, without a tool call.
    Refuses,
    /// Answers each request with status 500.
    Fails,
    /// Reads each request and never answers.
    Hangs,
}

/// The server. Dropped, it closes every connection and ends its threads.
pub struct ModelServer {
    port: u16,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

struct Shared {
    script: Script,
    ended: AtomicBool,
    requests: Mutex<Vec<Request>>,
    open: Mutex<Vec<(JoinHandle<()>, TcpStream)>>,
}

impl ModelServer {
    /// Listens on a port that the kernel chose.
    pub fn start(script: Script) -> ModelServer {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port of 127.0.0.1 can be had");
        let port = listener.local_addr().expect("it has an address").port();
        let shared = Arc::new(Shared {
            script,
            ended: AtomicBool::new(false),
            requests: Mutex::default(),
            open: Mutex::default(),
        });
        let of_thread = Arc::clone(&shared);
        ModelServer {
            port,
            shared,
            listener: Some(std::thread::spawn(move || of_thread.listen(&listener))),
        }
    }

    /// Its address, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Every request that came until now, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().expect("no thread of it panics").clone()
    }

    /// Whether a request has this text in its line, headers or body.
    pub fn was_told(&self, text: &str) -> bool {
        self.requests().iter().any(|request| request.contains(text))
    }
}

impl Shared {
    fn listen(self: Arc<Shared>, listener: &TcpListener) {
        for stream in listener.incoming() {
            if self.ended.load(Ordering::SeqCst) {
                return;
            }
            let Ok(stream) = stream else { continue };
            let mut open = self.open.lock().expect("no thread of it panics");
            open.retain(|(thread, _)| !thread.is_finished());
            let Ok(kept) = stream.try_clone() else { continue };
            if open.len() < CONNECTIONS {
                let shared = Arc::clone(&self);
                open.push((std::thread::spawn(move || shared.serve(&stream)), kept));
            }
        }
    }

    /// One connection. A client that goes away or speaks no HTTP is not a fault of the test's.
    fn serve(&self, stream: &TcpStream) {
        let _ = stream.set_read_timeout(Some(SILENCE));
        let _ = stream.set_write_timeout(Some(SILENCE));
        let mut reader = BufReader::new(stream);
        let mut writer = stream;
        while let Ok(Some(request)) = http::read(&mut reader, &mut writer) {
            let keeps = request.keeps_open();
            let answer = answers::answer(&self.script, &request);
            let head_only = request.method == "HEAD";
            self.requests.lock().expect("no thread of it panics").push(request);
            // Without an answer, the client's giving up is waited for.
            let Some(answer) = answer else { continue };
            if http::write(&mut writer, &answer, head_only).is_err() || !keeps {
                break;
            }
        }
        let _ = stream.shutdown(Shutdown::Both);
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        // Wakes the listener.
        let woken = TcpStream::connect(("127.0.0.1", self.port));
        if let (Ok(_), Some(listener)) = (woken, self.listener.take()) {
            let _ = listener.join();
        }
        let open = std::mem::take(&mut *self.shared.open.lock().expect("no thread of it panics"));
        for (thread, stream) in open {
            let _ = stream.shutdown(Shutdown::Both);
            let _ = thread.join();
        }
    }
}

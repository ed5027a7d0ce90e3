//! A small HTTP server on this machine that serves files well or badly, and remembers what it was asked.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How the server answers one request.
#[derive(Debug, Clone)]
pub enum Answer {
    /// The file, or the part of it that was asked for.
    Whole,
    /// As `Whole`, with the full length announced, but only so many bytes sent.
    Cut(usize),
    /// As `Cut`, but the connection stays open and silent for so long.
    Stall(usize, Duration),
    /// The file from its first byte without any length; the connection ends after so many bytes.
    Endless(usize),
    /// A partial answer that says it begins at another byte.
    WrongRange,
    /// A status without a file.
    Status(u16),
    /// A status without a file, after the file at this path has become a folder.
    Sabotage(PathBuf, u16),
    /// A redirect.
    Redirect(String),
}

/// A file that the server has, and how it answers for it: in this order, then `Whole`.
pub struct Site {
    pub path: &'static str,
    pub body: Vec<u8>,
    pub ranges: bool,
    pub answers: Vec<Answer>,
}

/// What the server was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub path: String,
    pub range: Option<String>,
    pub user_agent: Option<String>,
}

pub struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
}

struct Served {
    path: &'static str,
    body: Vec<u8>,
    ranges: bool,
    answers: Mutex<VecDeque<Answer>>,
}

impl Server {
    pub fn start(sites: Vec<Site>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let sites: Arc<Vec<Served>> = Arc::new(sites.into_iter().map(Served::from).collect());
        let log = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (sites, log) = (Arc::clone(&sites), Arc::clone(&log));
                // A client that hangs up early is part of the tests.
                thread::spawn(move || drop(serve(&stream.unwrap(), &sites, &log)));
            }
        });
        Self { address, requests }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// The Range header of each request, in order.
    pub fn ranges(&self) -> Vec<Option<String>> {
        self.requests().into_iter().map(|request| request.range).collect()
    }
}

impl From<Site> for Served {
    fn from(site: Site) -> Self {
        let answers = Mutex::new(site.answers.into());
        Self { path: site.path, body: site.body, ranges: site.ranges, answers }
    }
}

fn serve(mut stream: &TcpStream, sites: &[Served], log: &Mutex<Vec<Request>>) -> std::io::Result<()> {
    let request = read_request(stream)?;
    log.lock().unwrap().push(request.clone());
    let Some(site) = sites.iter().find(|site| site.path == request.path) else {
        return stream.write_all(&head(404, "content-length: 0\r\n"));
    };
    let answer = site.answers.lock().unwrap().pop_front().unwrap_or(Answer::Whole);
    let start = if site.ranges { request.start() } else { 0 };
    if start > 0 && start >= site.body.len() {
        return stream.write_all(&head(416, "content-length: 0\r\n"));
    }
    match answer {
        Answer::Whole => send(stream, site, start, usize::MAX),
        Answer::Cut(bytes) => send(stream, site, start, bytes),
        Answer::Stall(bytes, time) => {
            send(stream, site, start, bytes)?;
            thread::sleep(time);
            Ok(())
        }
        Answer::Endless(bytes) => {
            stream.write_all(&head(200, ""))?;
            stream.write_all(&site.body[..bytes])
        }
        Answer::WrongRange => {
            let fields = format!("content-length: 1\r\ncontent-range: bytes 0-0/{}\r\n", site.body.len());
            stream.write_all(&head(206, &fields))?;
            stream.write_all(&site.body[..1])
        }
        Answer::Status(status) => stream.write_all(&head(status, "content-length: 0\r\n")),
        Answer::Sabotage(path, status) => {
            std::fs::remove_file(&path)?;
            std::fs::create_dir(&path)?;
            stream.write_all(&head(status, "content-length: 0\r\n"))
        }
        Answer::Redirect(to) => stream.write_all(&head(302, &format!("location: {to}\r\ncontent-length: 0\r\n"))),
    }
}

/// Announces the file from byte `start` on, and sends at most `bytes` of it.
fn send(mut stream: &TcpStream, site: &Served, start: usize, bytes: usize) -> std::io::Result<()> {
    let (rest, all) = (&site.body[start..], site.body.len());
    let length = format!("content-length: {}\r\n", rest.len());
    let head = if start == 0 {
        head(200, &length)
    } else {
        head(206, &format!("{length}content-range: bytes {start}-{}/{all}\r\n", all - 1))
    };
    stream.write_all(&head)?;
    stream.write_all(&rest[..bytes.min(rest.len())])?;
    stream.flush()
}

fn head(status: u16, fields: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} Whatever\r\n{fields}connection: close\r\n\r\n").into_bytes()
}

fn read_request(stream: &TcpStream) -> std::io::Result<Request> {
    let mut lines = BufReader::new(stream.take(1 << 16)).lines();
    let first = lines.next().unwrap_or(Ok(String::new()))?;
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut request = Request { path, range: None, user_agent: None };
    for line in lines {
        let line = line?;
        match line.split_once(": ") {
            None => break,
            Some((name, value)) if name.eq_ignore_ascii_case("range") => request.range = Some(value.to_owned()),
            Some((name, value)) if name.eq_ignore_ascii_case("user-agent") => {
                request.user_agent = Some(value.to_owned());
            }
            Some(_) => {}
        }
    }
    Ok(request)
}

impl Request {
    fn start(&self) -> usize {
        let range = self.range.as_deref().unwrap_or_default();
        let start = range.strip_prefix("bytes=").and_then(|range| range.strip_suffix('-'));
        start.and_then(|start| start.parse().ok()).unwrap_or(0)
    }
}

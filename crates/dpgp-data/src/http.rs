//! HTTPS requests: the only module that touches reqwest.

use std::error::Error;
use std::io::Read;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use reqwest::Url;
use reqwest::blocking::{Client as Inner, ClientBuilder, Response};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT_ENCODING, CONTENT_RANGE, RANGE};
use reqwest::redirect::{Attempt, Policy};

use super::fetch::FetchOptions;
use super::fetch_failure::FetchFailure;
use super::reach::is_public;

const USER_AGENT: &str = concat!("dpgp/", env!("CARGO_PKG_VERSION"));

/// How addresses without encryption begin.
const PLAIN: &str = "http://";

/// How many redirects are followed.
const REDIRECTS: usize = 10;

/// A client for one address.
pub(super) struct Client {
    inner: Inner,
    url: String,
}

/// An answer whose body has not been read yet.
pub(super) struct Answer {
    /// The HTTP status, such as 200.
    pub(super) status: u16,
    /// How many bytes the body announces.
    pub(super) length: Option<u64>,
    /// The first byte that the body holds, as a partial answer tells it.
    pub(super) range_start: Option<u64>,
    body: Response,
}

impl Client {
    /// A client for `url`. The proxies of the environment are used, except for this machine itself.
    pub(super) fn new(url: &str, options: &FetchOptions) -> Result<Self, FetchFailure> {
        ensure_reach(url, options)?;
        let reach = Reach::of(options);
        install_cryptography();
        let builder = Inner::builder()
            .user_agent(USER_AGENT)
            .connect_timeout(options.connect_timeout)
            .timeout(options.read_timeout)
            .redirect(Policy::custom(move |attempt| redirect(attempt, reach)));
        let builder =
            if reach == Reach::Internet { builder.dns_resolver(Arc::new(PublicNames)) } else { builder };
        let inner = for_this_machine(builder, url).build().map_err(transport)?;
        let url = url.to_owned();
        Ok(Self { inner, url })
    }

    /// Asks for the file from byte `start` on.
    pub(super) fn get(&self, start: u64) -> Result<Answer, FetchFailure> {
        let mut request = self.inner.get(&self.url).header(ACCEPT_ENCODING, "identity");
        if start > 0 {
            request = request.header(RANGE, format!("bytes={start}-"));
        }
        let body = request.send().map_err(transport)?;
        Ok(Answer {
            status: body.status().as_u16(),
            length: body.content_length(),
            range_start: range_start(&body),
            body,
        })
    }
}

impl Answer {
    /// Reads the next bytes of the body; 0 at its end.
    pub(super) fn read(&mut self, block: &mut [u8]) -> Result<usize, FetchFailure> {
        self.body.read(block).map_err(transport)
    }
}

/// `https`, or `http` to this machine; without a user, who could look like a host.
pub(super) fn safe_url(text: &str) -> bool {
    // What the parser takes away or adds, such as spaces, has no place in a manifest.
    if !text.starts_with("https://") && !text.starts_with(PLAIN) {
        return false;
    }
    let Ok(url) = Url::parse(text) else { return false };
    let here = matches!(url.host_str(), Some("127.0.0.1" | "localhost" | "[::1]"));
    let anonymous = url.username().is_empty() && url.password().is_none();
    anonymous && url.has_host() && (url.scheme() == "https" || here)
}

/// TLS by ring, which builds without a C toolchain of its own. A second installation changes nothing.
pub(super) fn install_cryptography() {
    let _already_installed = rustls::crypto::ring::default_provider().install_default();
}

fn for_this_machine(builder: ClientBuilder, url: &str) -> ClientBuilder {
    if url.starts_with(PLAIN) { builder.no_proxy() } else { builder }
}

/// Which machines are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Those of the internet alone: a manifest may be somebody else's, and must not have this machine ask its neighbours.
    Internet,
    /// This machine and its networks, too.
    Anywhere,
}

/// Fails for an address that may not be asked, as far as its text tells.
pub(super) fn ensure_reach(url: &str, options: &FetchOptions) -> Result<(), FetchFailure> {
    Reach::of(options).ensure(url)
}

impl Reach {
    fn of(options: &FetchOptions) -> Self {
        if options.local_urls { Self::Anywhere } else { Self::Internet }
    }

    /// Whether an address may be asked, as far as its text tells; names are looked at when they are resolved.
    fn ensure(self, text: &str) -> Result<(), FetchFailure> {
        if !safe_url(text) {
            return Err(FetchFailure::Insecure);
        }
        match self {
            Self::Internet if !names_public_host(text) => Err(FetchFailure::OwnNetwork),
            _ => Ok(()),
        }
    }
}

/// Whether the host is a public IP address, or a name that may resolve to one. The parser knows every spelling of an address.
fn names_public_host(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else { return false };
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    match host.trim_matches(['[', ']']).parse() {
        Ok(number) => is_public(number),
        Err(_) => {
            host != "localhost"
                && !host.ends_with(".localhost")
                && !proxies().iter().any(|proxy| proxy == host)
        }
    }
}

/// Resolves names, but none to a machine that is not of the internet. The proxies that the user names are his own.
struct PublicNames;

impl Resolve for PublicNames {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(std::future::ready(resolved(name.as_str())))
    }
}

fn resolved(name: &str) -> Result<Addrs, Box<dyn Error + Send + Sync>> {
    let found: Vec<SocketAddr> = (name, 0).to_socket_addrs()?.collect();
    let all_public = found.iter().map(SocketAddr::ip).all(is_public);
    if all_public || proxies().iter().any(|proxy| proxy == name) {
        return Ok(Box::new(found.into_iter()));
    }
    Err(Box::new(FetchFailure::OwnNetwork))
}

/// The names of the proxies of the environment.
fn proxies() -> Vec<String> {
    let named = PROXIES.iter().filter_map(|name| std::env::var(name).ok());
    named.filter_map(|proxy| host_of(&proxy).or_else(|| host_of(&format!("{PLAIN}{proxy}")))).collect()
}

const PROXIES: [&str; 6] =
    ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy"];

fn host_of(url: &str) -> Option<String> {
    Url::parse(url).ok()?.host_str().filter(|host| host.parse::<IpAddr>().is_err()).map(str::to_owned)
}

/// Follows redirects, but never from an address that may be asked to one that may not.
fn redirect(attempt: Attempt<'_>, reach: Reach) -> reqwest::redirect::Action {
    if attempt.previous().len() > REDIRECTS {
        return attempt.error("too many redirects");
    }
    match reach.ensure(attempt.url().as_str()) {
        Ok(()) => attempt.follow(),
        Err(refused) => attempt.error(refused),
    }
}

/// `bytes 100-199/200` starts at 100.
fn range_start(response: &Response) -> Option<u64> {
    let text = response.headers().get(CONTENT_RANGE)?.to_str().ok()?;
    text.strip_prefix("bytes ")?.split('-').next()?.trim().parse().ok()
}

fn transport(error: impl Error + Send + Sync + 'static) -> FetchFailure {
    if timed_out(&error) {
        return FetchFailure::TimedOut;
    }
    refused(&error).unwrap_or_else(|| FetchFailure::Transport(Box::new(error)))
}

/// Our own refusal of an address, among the causes of an error.
fn refused(error: &(dyn Error + 'static)) -> Option<FetchFailure> {
    match error.downcast_ref() {
        Some(FetchFailure::Insecure) => Some(FetchFailure::Insecure),
        Some(FetchFailure::OwnNetwork) => Some(FetchFailure::OwnNetwork),
        _ => error.source().and_then(refused),
    }
}

fn timed_out(error: &(dyn Error + 'static)) -> bool {
    let by_reqwest = error.downcast_ref::<reqwest::Error>().is_some_and(reqwest::Error::is_timeout);
    let by_system = error.downcast_ref::<std::io::Error>().is_some_and(|e| {
        e.kind() == std::io::ErrorKind::TimedOut || e.get_ref().is_some_and(|e| timed_out(e))
    });
    by_reqwest || by_system || error.source().is_some_and(timed_out)
}

//! HTTPS requests: the only module that touches reqwest.

use std::error::Error;
use std::io::Read;

use reqwest::Url;
use reqwest::blocking::{Client as Inner, ClientBuilder, Response};
use reqwest::header::{ACCEPT_ENCODING, CONTENT_RANGE, RANGE};
use reqwest::redirect::{Attempt, Policy};

use super::fetch::FetchOptions;
use super::fetch_failure::FetchFailure;

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
        if !safe_url(url) {
            return Err(FetchFailure::Insecure);
        }
        install_cryptography();
        let builder = Inner::builder()
            .user_agent(USER_AGENT)
            .connect_timeout(options.connect_timeout)
            .timeout(options.read_timeout)
            .redirect(Policy::custom(redirect));
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

/// Follows redirects, but never from a safe address to an unsafe one.
fn redirect(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    if attempt.previous().len() > REDIRECTS {
        return attempt.error("too many redirects");
    }
    if safe_url(attempt.url().as_str()) { attempt.follow() } else { attempt.error(FetchFailure::Insecure) }
}

/// `bytes 100-199/200` starts at 100.
fn range_start(response: &Response) -> Option<u64> {
    let text = response.headers().get(CONTENT_RANGE)?.to_str().ok()?;
    text.strip_prefix("bytes ")?.split('-').next()?.trim().parse().ok()
}

fn transport(error: impl Error + Send + Sync + 'static) -> FetchFailure {
    if timed_out(&error) {
        FetchFailure::TimedOut
    } else if insecure(&error) {
        FetchFailure::Insecure
    } else {
        FetchFailure::Transport(Box::new(error))
    }
}

fn insecure(error: &(dyn Error + 'static)) -> bool {
    matches!(error.downcast_ref(), Some(FetchFailure::Insecure)) || error.source().is_some_and(insecure)
}

fn timed_out(error: &(dyn Error + 'static)) -> bool {
    let by_reqwest = error.downcast_ref::<reqwest::Error>().is_some_and(reqwest::Error::is_timeout);
    let by_system = error.downcast_ref::<std::io::Error>().is_some_and(|e| {
        e.kind() == std::io::ErrorKind::TimedOut || e.get_ref().is_some_and(|e| timed_out(e))
    });
    by_reqwest || by_system || error.source().is_some_and(timed_out)
}

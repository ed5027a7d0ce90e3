//! HTTPS requests: the only module that uses reqwest. Addresses of the manifest may lead only to the
//! internet, unless the user allows others.

use std::error::Error;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use reqwest::Url;
use reqwest::blocking::{Client as Inner, ClientBuilder, Response};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT_ENCODING, CONTENT_RANGE, RANGE};
use reqwest::redirect::{Attempt, Policy};

use super::fetch::{FetchError, FetchOptions};

const USER_AGENT: &str = concat!("dpgp/", env!("CARGO_PKG_VERSION"));

/// How addresses without encryption begin.
const PLAIN: &str = "http://";

/// How many redirects are followed.
const REDIRECTS: usize = 10;

/// A client for one address.
pub(super) struct HttpClient {
    inner: Inner,
    url: String,
}

/// An answer whose body has not been read yet.
pub(super) struct HttpResponse {
    /// The HTTP status, such as 200.
    pub(super) status: u16,
    /// How many bytes the body announces.
    pub(super) length: Option<u64>,
    /// The first byte of the body of a partial answer.
    pub(super) range_start: Option<u64>,
    body: Response,
}

impl HttpClient {
    /// A client for `url`. The proxies of the environment are used, except for this machine itself.
    pub(super) fn new(url: &str, options: &FetchOptions) -> Result<Self, FetchError> {
        ensure_url_allowed(url, options)?;
        let reach = NetworkReach::from_options(options);
        install_tls_provider();
        let builder = Inner::builder()
            .user_agent(USER_AGENT)
            .connect_timeout(options.connect_timeout)
            .timeout(options.read_timeout)
            .redirect(Policy::custom(move |attempt| follow_allowed_redirect(attempt, reach)));
        let builder =
            if reach == NetworkReach::Internet { builder.dns_resolver(Arc::new(PublicResolver)) } else { builder };
        let inner = bypass_local_proxy(builder, url).build().map_err(classify_transport_error)?;
        let url = url.to_owned();
        Ok(Self { inner, url })
    }

    /// Asks for the file from byte `start` on.
    pub(super) fn request_from_byte(&self, start: u64) -> Result<HttpResponse, FetchError> {
        let mut request = self.inner.get(&self.url).header(ACCEPT_ENCODING, "identity");
        if start > 0 {
            request = request.header(RANGE, format!("bytes={start}-"));
        }
        let body = request.send().map_err(classify_transport_error)?;
        Ok(HttpResponse {
            status: body.status().as_u16(),
            length: body.content_length(),
            range_start: range_start(&body),
            body,
        })
    }
}

impl HttpResponse {
    /// Reads the next bytes of the body; 0 at its end.
    pub(super) fn read(&mut self, block: &mut [u8]) -> Result<usize, FetchError> {
        self.body.read(block).map_err(classify_transport_error)
    }
}

/// Whether a URL is `https`, or `http` to this machine, and names no user, who could look like a host.
pub(super) fn is_safe_url(text: &str) -> bool {
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
pub(super) fn install_tls_provider() {
    let _already_installed = rustls::crypto::ring::default_provider().install_default();
}

fn bypass_local_proxy(builder: ClientBuilder, url: &str) -> ClientBuilder {
    if url.starts_with(PLAIN) { builder.no_proxy() } else { builder }
}

/// The machines that may be contacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NetworkReach {
    /// Only machines on the internet: a manifest may come from somebody else, and must not make this machine contact its
    /// local network.
    Internet,
    /// This machine and its networks, too.
    Anywhere,
}

/// Fails for an address that may not be contacted, judged by its text alone.
pub(super) fn ensure_url_allowed(url: &str, options: &FetchOptions) -> Result<(), FetchError> {
    NetworkReach::from_options(options).ensure_url_allowed(url)
}

impl NetworkReach {
    fn from_options(options: &FetchOptions) -> Self {
        if options.local_urls { Self::Anywhere } else { Self::Internet }
    }

    /// Fails for an address that may not be contacted, judged by its text alone; names are checked when they are resolved.
    fn ensure_url_allowed(self, text: &str) -> Result<(), FetchError> {
        if !is_safe_url(text) {
            return Err(FetchError::Insecure);
        }
        match self {
            Self::Internet if !has_public_host(text) => Err(FetchError::OwnNetwork),
            _ => Ok(()),
        }
    }
}

/// Whether the host is a public IP address, or a name that may resolve to one. The parser knows every spelling of an address.
fn has_public_host(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else { return false };
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    match host.trim_matches(['[', ']']).parse() {
        Ok(number) => is_public_ip(number),
        Err(_) => {
            host != "localhost" && !host.ends_with(".localhost") && !proxy_hosts().iter().any(|proxy| proxy == host)
        }
    }
}

/// Resolves names, but none to a machine that is not of the internet. The proxies that the user names are his own.
struct PublicResolver;

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(std::future::ready(resolve_public_host(name.as_str())))
    }
}

fn resolve_public_host(name: &str) -> Result<Addrs, Box<dyn Error + Send + Sync>> {
    let found: Vec<SocketAddr> = (name, 0).to_socket_addrs()?.collect();
    let all_public = found.iter().map(SocketAddr::ip).all(is_public_ip);
    if all_public || proxy_hosts().iter().any(|proxy| proxy == name) {
        return Ok(Box::new(found.into_iter()));
    }
    Err(Box::new(FetchError::OwnNetwork))
}

/// The names of the proxies of the environment.
fn proxy_hosts() -> Vec<String> {
    let named = PROXIES.iter().filter_map(|name| std::env::var(name).ok());
    named.filter_map(|proxy| host_of(&proxy).or_else(|| host_of(&format!("{PLAIN}{proxy}")))).collect()
}

const PROXIES: [&str; 6] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy"];

fn host_of(url: &str) -> Option<String> {
    Url::parse(url).ok()?.host_str().filter(|host| host.parse::<IpAddr>().is_err()).map(str::to_owned)
}

/// Follows redirects, but never from an address that may be asked to one that may not.
fn follow_allowed_redirect(attempt: Attempt<'_>, reach: NetworkReach) -> reqwest::redirect::Action {
    if attempt.previous().len() > REDIRECTS {
        return attempt.error("too many redirects");
    }
    match reach.ensure_url_allowed(attempt.url().as_str()) {
        Ok(()) => attempt.follow(),
        Err(refused) => attempt.error(refused),
    }
}

/// `bytes 100-199/200` starts at 100.
fn range_start(response: &Response) -> Option<u64> {
    let text = response.headers().get(CONTENT_RANGE)?.to_str().ok()?;
    text.strip_prefix("bytes ")?.split('-').next()?.trim().parse().ok()
}

fn classify_transport_error(error: impl Error + Send + Sync + 'static) -> FetchError {
    if is_timeout(&error) {
        return FetchError::TimedOut;
    }
    find_refused_address(&error).unwrap_or_else(|| FetchError::Transport(Box::new(error)))
}

/// Finds our own refusal of an address among the causes of an error.
fn find_refused_address(error: &(dyn Error + 'static)) -> Option<FetchError> {
    match error.downcast_ref() {
        Some(FetchError::Insecure) => Some(FetchError::Insecure),
        Some(FetchError::OwnNetwork) => Some(FetchError::OwnNetwork),
        _ => error.source().and_then(find_refused_address),
    }
}

fn is_timeout(error: &(dyn Error + 'static)) -> bool {
    let by_reqwest = error.downcast_ref::<reqwest::Error>().is_some_and(reqwest::Error::is_timeout);
    let by_system = error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|e| e.kind() == std::io::ErrorKind::TimedOut || e.get_ref().is_some_and(|e| is_timeout(e)));
    by_reqwest || by_system || error.source().is_some_and(is_timeout)
}

/// Whether an address is one of the internet: not of this machine, of a network of its own, of a link (where machines in clouds are
/// told their secrets), or of no use to a server.
fn is_public_ip(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Blocks of version 4 that are not of the internet, as their first address and the bits that they share (IANA, RFC 6890).
const OTHERS: [(Ipv4Addr, u32); 14] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 3),
];

/// The service that gives machines of one cloud their secrets has an address of the internet.
const WIRE_SERVER: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = address.to_bits();
    let other = |(first, shared): &(Ipv4Addr, u32)| (bits ^ first.to_bits()) >> (32 - shared) == 0;
    address != WIRE_SERVER && !OTHERS.iter().any(other)
}

/// Global unicast (2000::/3) without what is for documents, tests and tunnels; and addresses that stand for public ones of version 4.
fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = address.to_ipv4_mapped() {
        return is_public_v4(inner);
    }
    match address.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
        }
        [0x2001, second, ..] => second >= 0x200 && second != 0xdb8,
        [0x2002, ..] | [0x3fff, 0..=0xfff, ..] => false,
        [first, ..] => first >> 13 == 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_internet_and_others() {
        for (text, public) in [
            ("8.8.8.8", true),
            ("172.15.255.255", true),
            ("172.32.0.0", true),
            ("100.63.0.1", true),
            ("100.128.0.1", true),
            ("223.255.255.255", true),
            ("2606:4700::1111", true),
            ("2001:4860:4860::8888", true),
            ("::ffff:8.8.8.8", true),
            ("64:ff9b::808:808", true),
            ("0.0.0.0", false),
            ("10.1.2.3", false),
            ("100.64.0.1", false),
            ("127.0.0.1", false),
            ("127.255.0.9", false),
            ("169.254.169.254", false),
            ("168.63.129.16", false),
            ("172.16.0.1", false),
            ("172.31.255.255", false),
            ("192.168.1.1", false),
            ("198.19.0.1", false),
            ("224.0.0.1", false),
            ("240.0.0.1", false),
            ("255.255.255.255", false),
            ("::", false),
            ("::1", false),
            ("::7f00:1", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:169.254.169.254", false),
            ("64:ff9b::7f00:1", false),
            ("64:ff9b:1::1", false),
            ("2001::1", false),
            ("2001:db8::1", false),
            ("2002:7f00:1::", false),
            ("fc00::1", false),
            ("fd00:ec2::254", false),
            ("fe80::1", false),
            ("fec0::1", false),
            ("ff02::1", false),
        ] {
            assert_eq!(is_public_ip(text.parse().unwrap()), public, "{text}");
        }
    }
}

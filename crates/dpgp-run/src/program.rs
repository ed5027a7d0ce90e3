//! What this program is called where it is named.

/// The version, and the commit that a release build was made from. A build for development says that it is one: it may be of any
/// state of the files. A build without git or from a package has the version alone.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), env!("DPGP_BUILD"));

/// The program and its version, as certificates name it.
pub const PROGRAM: &str = concat!("dpgp ", env!("CARGO_PKG_VERSION"), env!("DPGP_BUILD"));

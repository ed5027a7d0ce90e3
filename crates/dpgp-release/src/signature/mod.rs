//! Signatures of released files in the format of OpenSSH (SSHSIG), made and checked by the user's own `ssh-keygen`.
//!
//! The program of the user knows agents, passphrases and hardware keys, and no secret of a key comes into the memory of this one.
//! Anybody can check a signature without this program:
//! `ssh-keygen -Y verify -f allowed_signers -I WHO -n dpgp-release -s FILE.sig < FILE`.

mod error;
mod key;
mod signers;
mod ssh_keygen;

pub use error::SignatureError;
pub use key::SigningKey;
pub use signers::Signers;
pub use ssh_keygen::NAMESPACE;

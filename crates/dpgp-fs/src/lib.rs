//! Atomic file writes, by system calls that tests can interrupt, and signatures of files.

pub mod disk;
mod files;
mod signature;
mod way;

pub use files::{
    AtomicNewFile, ReadAccess, append_suffix, delete_temporary_files, existing_parent_folder, parent_or_current_folder,
    temporary_file, write_atomically, write_atomically_with, write_atomically_with_access,
};
pub use signature::{AllowedSigners, NAMESPACE, SignatureError, SignatureVerdict, SigningKey};
pub use way::{is_outside_folder, no_follow_options, read_text_unless_outside_link, refuse_links, resolve_links};

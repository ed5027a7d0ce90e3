//! Atomic file writes, by system calls that tests can interrupt.

pub mod disk;
mod files;
mod way;

pub use files::{
    NewFile, ReadAccess, append_suffix, delete_temporary_files, existing_parent_folder, parent_or_current_folder,
    temporary_file, write_atomically, write_atomically_for, write_file_atomically,
};
pub use way::{is_outside_folder, no_follow_options, read_unlinked_text, refuse_links, resolve_links};

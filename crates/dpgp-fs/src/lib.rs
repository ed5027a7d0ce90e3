//! Atomic file writes, by system calls that tests can interrupt.

pub mod disk;
mod files;
mod way;

pub use files::{
    NewFile, ReadAccess, delete_temporary_files, existing_folder_of, folder_of, temporary_file, with_ending,
    write_atomically, write_atomically_for, write_file_atomically,
};
pub use way::{is_outside_folder, no_follow_options, read_unlinked_text, refuse_links, resolve_links};

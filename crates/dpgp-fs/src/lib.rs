//! Atomic file writes, by system calls that tests can interrupt.

pub mod disk;
mod files;
mod new_file;
mod temporary;
mod way;

pub use files::{
    ReadAccess, existing_folder_of, folder_of, with_ending, write_atomically, write_atomically_for,
    write_file_atomically,
};
pub use new_file::NewFile;
pub use temporary::{delete_temporary_files, temporary_file};
pub use way::{is_outside_folder, no_follow_options, read_unlinked_text, refuse_links, resolve_links};

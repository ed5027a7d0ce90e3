//! Calls of `ssh-keygen`.

use std::process::Command;

/// What the signatures of this program are for, so that none can be passed off as one of another program.
pub const NAMESPACE: &str = "dpgp-release";

/// `ssh-keygen -Y` with one of its actions for signatures.
pub(super) fn ssh_keygen(action: &str) -> Command {
    let mut command = Command::new("ssh-keygen");
    command.args(["-Y", action]);
    command
}

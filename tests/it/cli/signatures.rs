//! Signatures of what is released, by keys of OpenSSH, and the program that certificates name.

use std::process::{Command, Stdio};

use crate::support::cli::{Project, Run};
use crate::support::energy::{RECORDS, TARGETS, energy_project};

const PREDICT: &[&str] = &["predict", "energy.toml", "--at", "grid.csv", "--out", "p.csv", "--quiet"];
const STATS: &[&str] = &["stats", "energy.toml", "energy.csv", "--release", "s.json", "--quiet"];
const CERTIFICATE: &str = "p.csv.certificate.json";

/// A project with two keys and a file that accepts one of them for this program alone; none without `ssh-keygen`.
fn project(spec: &str) -> Option<Project> {
    let project = energy_project(spec);
    for key in ["mine", "other"] {
        let mut command = Command::new("ssh-keygen");
        command.args(["-q", "-t", "ed25519", "-N", "", "-C", key, "-f"]).arg(project.path(key));
        let Ok(status) = command.stdin(Stdio::null()).status() else {
            eprintln!("skipped: there is no ssh-keygen");
            return None;
        };
        assert!(status.success());
    }
    let key = project.read("mine.pub");
    project.write("signers", &format!("me@example.org namespaces=\"dpgp-release\" {key}"));
    Some(project)
}

/// What a stranger does who does not have this program.
fn verified_by_ssh(project: &Project, file: &str, namespace: &str) -> bool {
    let mut command = Command::new("ssh-keygen");
    command.args(["-Y", "verify", "-f", "signers", "-I", "me@example.org", "-n", namespace, "-s"]);
    command.arg(format!("{file}.sig")).current_dir(project.folder.path());
    command.stdin(std::fs::File::open(project.path(file)).unwrap());
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
}

fn verify(project: &Project, arguments: &[&str], code: i32) -> Run {
    project.dpgp(&[&["verify"], arguments, &["--signers", "signers"]].concat()).expect(code)
}

#[test]
fn a_signed_release_is_verified_with_and_without_this_program() {
    let Some(project) = project(TARGETS) else { return };
    let run = project.dpgp(&[PREDICT, &["--sign", "mine"]].concat()).expect(0);
    assert!(run.out.contains("the certificate is signed"), "{}", run.out);
    assert!(verified_by_ssh(&project, CERTIFICATE, "dpgp-release"));
    assert!(!verified_by_ssh(&project, CERTIFICATE, "git"));
    for signer in [&[][..], &["--signer", "me@example.org"]] {
        let run = verify(&project, &[&[CERTIFICATE, "p.csv"], signer].concat(), 0);
        assert!(run.out.contains("ok     the signature: Good \"dpgp-release\" signature for me@example.org"));
    }
    let run = project.dpgp(&["verify", CERTIFICATE, "p.csv"]).expect(0);
    assert!(run.out.contains("not checked: p.csv.certificate.json.sig"), "{}", run.out);
    // Sums carry their certificate; the public half of a key names it, where the private one is beside it or in an agent.
    project.write("energy.toml", RECORDS);
    let run = project.dpgp(&[STATS, &["--sign", "mine.pub", "--no-ledger"]].concat()).expect(0);
    assert!(run.out.contains("signed: s.json.sig"), "{}", run.out);
    assert!(verified_by_ssh(&project, "s.json", "dpgp-release"));
    verify(&project, &["s.json"], 0);
}

/// What is changed after it was signed, or signed by somebody else or for another purpose, is found.
#[test]
fn signatures_that_do_not_fit_are_found() {
    let Some(project) = project(TARGETS) else { return };
    project.dpgp(&[PREDICT, &["--sign", "mine"]].concat()).expect(0);
    let files = [CERTIFICATE, "p.csv"];
    let (certificate, signers) = (project.read(CERTIFICATE), project.read("signers"));
    let failed = "FAILED the signature: ";
    // One blank, which all other checks let pass.
    project.write(CERTIFICATE, &format!("{certificate} "));
    let run = verify(&project, &files, 1);
    assert!(run.out.contains(failed) && run.out.contains("incorrect signature"), "{}", run.out);
    assert_eq!(run.out.matches("FAILED").count(), 1, "{}", run.out);
    project.write(CERTIFICATE, &certificate);
    let run = verify(&project, &[&files[..], &["--signer", "you@example.org"]].concat(), 1);
    assert!(run.out.contains("\"you@example.org\" is not listed for this key"), "{}", run.out);
    project.write("signers", &format!("you@example.org {}", project.read("other.pub")));
    let run = verify(&project, &files, 1);
    assert!(run.out.contains("No principal matched"), "{}", run.out);
    project.write("signers", &signers);
    // The right key, for another purpose.
    let sign = |key: &str, namespace: &str| {
        std::fs::remove_file(project.path("p.csv.certificate.json.sig")).unwrap();
        let mut command = Command::new("ssh-keygen");
        command.args(["-Y", "sign", "-q", "-f", key, "-n", namespace, CERTIFICATE]);
        assert!(command.current_dir(project.folder.path()).status().unwrap().success());
    };
    sign("mine", "file");
    assert!(verify(&project, &files, 1).out.contains("namespace"));
    sign("other", "dpgp-release");
    assert!(verify(&project, &files, 1).out.contains(failed));
    // A signature by hand is as good as one of this program.
    sign("mine", "dpgp-release");
    verify(&project, &files, 0);
    std::fs::remove_file(project.path("p.csv.certificate.json.sig")).unwrap();
    assert!(verify(&project, &files, 5).err.contains("p.csv.certificate.json.sig"));
    project.write("p.csv.certificate.json.sig", "no signature");
    verify(&project, &files, 1);
}

/// A key that does not sign is found before anything is drawn or charged.
#[test]
fn a_key_that_does_not_sign_costs_nothing() {
    let Some(project) = project(RECORDS) else { return };
    let before = std::fs::read_dir(project.folder.path()).unwrap().count();
    let mut locked = Command::new("ssh-keygen");
    locked.args(["-q", "-p", "-P", "", "-N", "secret", "-f"]).arg(project.path("other"));
    assert!(locked.stdout(Stdio::null()).status().unwrap().success());
    for verb in [PREDICT, STATS] {
        for key in ["nowhere", "signers", "other"] {
            let run = project.dpgp(&[verb, &["--sign", key]].concat()).expect(2);
            let message = format!("nothing was released or charged: ssh-keygen could not sign with the key {key}");
            assert!(run.err.contains(&message) && run.out.is_empty(), "{}", run.err);
        }
        let arguments = [verb, &["--sign", "mine"]].concat();
        let output = project.command(&arguments).env("PATH", "").output().unwrap();
        let run = Run::new(output).expect(2);
        assert!(run.err.contains("cannot run ssh-keygen, which signatures need"), "{}", run.err);
    }
    // The state folder has its key, and no ledger.
    assert_eq!(std::fs::read_dir(project.folder.path()).unwrap().count(), before + 1);
    assert!(!project.path("state/ledgers").exists());
    project.dpgp(&["predict", "energy.toml", "--at", "grid.csv", "--sign", "mine"]).expect(2);
    // A signature is never written over, and nothing is charged for it.
    for (verb, file) in [(PREDICT, "p.csv.certificate.json.sig"), (STATS, "s.json.sig"), (STATS, "s.json")] {
        project.write(file, "precious");
        let run = project.dpgp(&[verb, &["--sign", "mine"]].concat()).expect(2);
        assert!(run.err.contains(&format!("{file} already exists")), "{}", run.err);
        assert_eq!(project.read(file), "precious");
        std::fs::remove_file(project.path(file)).unwrap();
    }
    assert!(!project.path("state/ledgers").exists());
}

/// A program in the place of `ssh-keygen` that signs once: the trial succeeds, and the signature of the release fails.
#[cfg(unix)]
#[test]
fn a_signature_that_fails_after_the_charge_leaves_no_file() {
    use std::os::unix::fs::PermissionsExt;
    let Some(project) = project(RECORDS) else { return };
    project
        .put("bin/ssh-keygen", "#!/bin/sh\nfor file; do :; done\n[ -e used ] && exit 7\n: > used; : > \"$file.sig\"\n");
    let tool = project.path("bin/ssh-keygen");
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    for (verb, releases) in [(PREDICT, 1), (STATS, 2)] {
        let mut command = project.command(&[verb, &["--sign", "mine"]].concat());
        let run = Run::new(command.env("PATH", project.path("bin")).output().unwrap()).expect(5);
        assert!(run.err.contains("was drawn but could not be signed"), "{}", run.err);
        assert!(
            run.err.contains("was already charged to the ledger")
                && run.err.contains("the charge remains")
                && run.out.is_empty(),
            "{}",
            run.err
        );
        let shown = project.dpgp(&["ledger", "show", "--format", "json"]).expect(0).json();
        assert_eq!(shown[0]["account"]["releases"], releases);
        for file in ["p.csv", CERTIFICATE, "p.csv.certificate.json.sig", "s.json", "s.json.sig"] {
            assert!(!project.path(file).exists(), "{file}");
        }
        std::fs::remove_file(project.path("used")).unwrap();
    }
    let files = std::fs::read_dir(project.folder.path()).unwrap();
    let hidden = files.filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().starts_with('.'));
    assert_eq!(hidden.count(), 0, "temporary files are gone");
}

/// Certificates, `--version` and `verify` name the program in the same words: its version, and a commit in release builds.
#[test]
fn certificates_name_the_program() {
    let project = energy_project(RECORDS);
    let version = project.dpgp(&["--version"]).expect(0).out.trim().to_owned();
    let build = version.strip_prefix(concat!("dpgp ", env!("CARGO_PKG_VERSION"))).unwrap();
    let commit = build.strip_prefix(" (commit ").and_then(|rest| rest.strip_suffix(')'));
    let is_commit = commit.is_some_and(|commit| commit.chars().take(40).all(|digit| digit.is_ascii_hexdigit()));
    assert!(is_commit || ["", " (development build)"].contains(&build), "{version}");
    project.dpgp(PREDICT).expect(0);
    project.dpgp(STATS).expect(0);
    assert_eq!(project.json(CERTIFICATE)["program"], version.as_str());
    assert_eq!(project.json("s.json")["guarantee"]["program"], version.as_str());
    let run = project.dpgp(&["verify", "s.json"]).expect(0);
    assert!(run.out.contains(&format!("made by: {version}\n")), "{}", run.out);
}

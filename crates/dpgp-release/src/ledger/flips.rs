//! Flips every bit of a ledger and its records. Each flip must be refused, or leave the account unchanged.

use std::path::Path;

use super::book::SealKey;
use super::error::LedgerError;
use super::file::{LedgerWithPath, parse_ledger};
use super::known::{LedgerRegistry, parse_registration};
use super::trial::Trial;

/// A text with one bit turned over, if that is a text; a file that is none is refused where it is read.
fn flipped(text: &str, bit: usize) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    bytes[bit / 8] ^= 1 << (bit % 8);
    String::from_utf8(bytes).ok()
}

/// After three releases: nothing is the same but what does not count, which is comments, space and the case of digits.
#[test]
fn every_bit_of_a_ledger() {
    let trial = Trial::new();
    ["1", "2", "3"].iter().for_each(|id| drop(trial.charge(id).unwrap()));
    let (path, state) = (trial.files("toml").remove(0), &trial.place.state);
    let (known, key) = (LedgerRegistry::read(state).unwrap(), SealKey::new(state.key()));
    let text = std::fs::read_to_string(&path).unwrap();
    let LedgerWithPath { ledger: sound, .. } = parse_ledger(&path, text.clone(), &known, &key).unwrap();
    assert_eq!(sound.release.len(), 3);
    let mut same = 0;
    for bit in 0..8 * text.len() {
        let Some(other) = flipped(&text, bit) else { continue };
        let Ok(read) = parse_ledger(&path, other, &known, &key) else { continue };
        assert_eq!(read.ledger, sound, "bit {} of byte {}", bit % 8, bit / 8);
        same += 1;
    }
    // Two lines of comment stand at the top.
    assert!((200..3000).contains(&same), "{same} of {} are the same", 8 * text.len());
}

/// What the state folder remembers of a ledger, and so by which rows it is found.
#[test]
fn every_bit_of_what_is_remembered() {
    let trial = Trial::new();
    trial.charge("1").unwrap();
    let (path, key) = (trial.files("head").remove(0), SealKey::new(trial.place.state.key()));
    let text = std::fs::read_to_string(&path).unwrap();
    let sound = parse_registration(&path, &text, &key).unwrap();
    for bit in 0..8 * text.len() {
        let Some(other) = flipped(&text, bit) else { continue };
        if let Ok(read) = parse_registration(&path, &other, &key) {
            assert_eq!(read, sound, "bit {} of byte {}", bit % 8, bit / 8);
        }
    }
    // The same before there were tags, where the ledger must say the same.
    let start = text.find("tag = ").unwrap();
    let untagged = format!("{}{}", &text[..start], text[start..].split_once('\n').unwrap().1);
    let sound = parse_registration(&path, &untagged, &key).unwrap();
    for bit in 0..8 * untagged.len() {
        let Some(other) = flipped(&untagged, bit) else { continue };
        let Ok(read) = parse_registration(&path, &other, &key) else { continue };
        // A ledger that is elsewhere is not there: that is told where its rows are released.
        assert!(read == sound || !read.path.exists(), "bit {} of byte {}", bit % 8, bit / 8);
        assert_eq!((&read.data, read.releases), (&sound.data, sound.releases));
    }
}

/// The key: all that was remembered with another one is refused, so that no second ledger begins.
#[test]
fn every_bit_of_the_key() {
    let trial = Trial::new();
    trial.charge("1").unwrap();
    let (file, state) = (trial.place.state.path().join("key"), trial.place.state.path());
    let key = std::fs::read(&file).unwrap();
    for bit in 0..8 * key.len() {
        let mut other = key.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&file, other).unwrap();
        let state = dpgp_run::StateFolder::open_at(state).unwrap();
        let Err(LedgerError::Malformed { reason, .. }) = LedgerRegistry::read(&state) else {
            panic!("bit {bit} is not noticed");
        };
        assert!(reason.contains("other than the current key"), "{reason}");
    }
}

/// Version 1 has no seal. The user names the budget, the numbers of each release hold each other, and the rest is no
/// part of the account: names, times and what is protected.
#[test]
fn every_bit_of_version_1() {
    let release = "\n[[release]]\ntime = \"2026-01-31T12:00:00Z\"\nspec = \"energy.toml\"\nspec_sha256 = \"00\"\ntarget = \"kwh\"\n\
                   public = [\"t\"]\nepsilon = 1.0\ndelta = 3e-6\ndelta_exact = 2.924272104856407e-6\nmu = 0.25\nneighbours = \
                   { one-target-changes = 40.0 }\n";
    let text = format!(
        "version = 1\ndata_sha256 = \"{}\"\n\n[budget]\nepsilon = 2.0\ndelta = 1e-6\n{release}{release}",
        "0".repeat(64)
    );
    let trial = Trial::new();
    let state = &trial.place.state;
    let (known, key) = (LedgerRegistry::read(state).unwrap(), SealKey::new(state.key()));
    let (path, mut same) = (Path::new("l.toml"), 0);
    let sound = parse_ledger(path, text.clone(), &known, &key).unwrap().ledger.account();
    assert_eq!(sound.releases, 2);
    for bit in 0..8 * text.len() {
        let Some(other) = flipped(&text, bit) else { continue };
        let Ok(read) = parse_ledger(path, other, &known, &key) else { continue };
        let account = read.ledger.account();
        if account.budget == sound.budget {
            let close = (account.mu / sound.mu - 1.0).abs() < 1e-6;
            assert!(close && account.releases == 2, "bit {} of byte {}: {account:?}", bit % 8, bit / 8);
            same += 1;
        }
    }
    assert!(same > 500, "names may change: {same}");
}

//! What keeps a ledger as it was written: entries that are linked to those before them, and a seal on the whole.

use super::book::Ledger;
use super::entry::LedgerEntry;
use super::known::KnownLedger;
use dpgp_data::DataKey;

/// The key of links and seals, which is not that of rows.
#[derive(Debug, Clone)]
pub(super) struct SealKey {
    key: DataKey,
    name: String,
}

impl SealKey {
    /// From the key of the state folder.
    pub fn new(key: &DataKey) -> Self {
        Self { key: key.for_purpose("dpgp ledgers"), name: key.name() }
    }

    /// The name of the key of the state folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The link of an entry after the one with the link `before`: the tag of both.
    ///
    /// Obligation: it depends on every byte of the entry and of all entries before it, and who does not have the key cannot
    /// make one.
    pub fn link(&self, before: &str, entry: &LedgerEntry) -> Result<String, String> {
        let bare = LedgerEntry { link: String::new(), ..entry.clone() };
        self.tag(before, &bare)
    }

    /// The seal of a ledger: the tag of all that stands in it.
    pub fn seal(&self, ledger: &Ledger) -> Result<String, String> {
        let bare = Ledger { seal: String::new(), ..ledger.clone() };
        self.tag("seal", &bare)
    }

    /// The tag of what is remembered of a ledger.
    pub fn tag_of(&self, head: &KnownLedger) -> Result<String, String> {
        let bare = KnownLedger { tag: String::new(), ..head.clone() };
        self.tag("head", &bare)
    }

    fn tag(&self, before: &str, what: &impl serde::Serialize) -> Result<String, String> {
        let text = serde_json::to_string(what).map_err(|error| error.to_string())?;
        Ok(hex::encode(self.key.tag(format!("{before}|{text}").as_bytes())))
    }

    /// Why a ledger is not as this program wrote it.
    pub fn fault(&self, ledger: &Ledger) -> Option<String> {
        let mut before = "";
        for (place, entry) in ledger.release.iter().enumerate() {
            let number = place + 1;
            let follows = self.link(before, entry).is_ok_and(|link| link == entry.link);
            if !follows || entry.number != number as u64 {
                return Some(format!("release {number} was edited, or one before it was taken out"));
            }
            before = &entry.link;
        }
        let sealed = self.seal(ledger).is_ok_and(|seal| seal == ledger.seal);
        (!sealed).then(|| "its seal does not fit: it was edited, or releases were cut off its end".to_owned())
    }
}

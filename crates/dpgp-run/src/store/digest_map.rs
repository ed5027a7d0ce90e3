//! Values by digest.

use std::hash::{BuildHasherDefault, Hasher};

use dpgp_spec::Identity;

/// A map from digests, which are their own hashes.
#[allow(clippy::disallowed_types, reason = "without random state its order is the same in every run")]
pub(super) type DigestMap<V> = std::collections::HashMap<Identity, V, BuildHasherDefault<DigestHasher>>;

/// Takes the first bytes of SHA-256 as they are: they are spread evenly already.
#[derive(Debug, Default)]
pub(super) struct DigestHasher(u64);

impl Hasher for DigestHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // The length of the digest comes before it, the same for all.
        self.0 ^= bytes.first_chunk().map_or(0, |first| u64::from_le_bytes(*first));
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use super::*;

    fn hash(text: &str) -> u64 {
        BuildHasherDefault::<DigestHasher>::default().hash_one(Identity::of(text))
    }

    /// SHA-256 of the empty text begins with e3b0c44298fc1c14, that of "abc" with ba7816bf8f01cfea. What both have in common cancels.
    #[test]
    fn digests_differ_by_their_first_bytes() {
        let both = 0xe3b0_c442_98fc_1c14_u64 ^ 0xba78_16bf_8f01_cfea;
        assert_eq!(hash("") ^ hash("abc"), both.swap_bytes());
        assert_eq!(hash("a"), hash("a"));
    }
}

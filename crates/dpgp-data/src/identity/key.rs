//! HMAC-SHA-256 (RFC 2104) under a key of the holder's own.

use std::fmt;
use std::io::Read;

use sha2::{Digest as _, Sha256};

/// Bytes of a block of SHA-256.
const BLOCK: usize = 64;

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 16;

/// A secret key, ready to tag messages. It never shows itself.
///
/// ```
/// let key = dpgp_data::DataKey::new(b"Jefe");
/// let tag = key.tag(b"what do ya want for nothing?"); // RFC 4231, test case 2
/// assert!(hex::encode(tag).starts_with("5bdcc146bf60754e6a042426089575c7"));
/// ```
#[derive(Clone)]
pub struct DataKey {
    /// SHA-256 after the key with the inner pad.
    inner: Sha256,
    /// SHA-256 after the key with the outer pad.
    outer: Sha256,
}

impl fmt::Debug for DataKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DataKey(secret)")
    }
}

impl DataKey {
    /// The key of these bytes; more than a block of them are hashed first.
    pub fn new(key: &[u8]) -> Self {
        let mut block = [0; BLOCK];
        if key.len() > BLOCK {
            block[..32].copy_from_slice(&Sha256::digest(key));
        } else {
            block[..key.len()].copy_from_slice(key);
        }
        Self { inner: padded(&block, 0x36), outer: padded(&block, 0x5c) }
    }

    /// A key for one purpose, which tells nothing about this one or those of other purposes.
    #[must_use]
    pub fn for_purpose(&self, purpose: &str) -> Self {
        Self::new(&self.tag(purpose.as_bytes()))
    }

    /// The tag of a message: `H(key ^ opad | H(key ^ ipad | message))`.
    pub fn tag(&self, message: &[u8]) -> [u8; 32] {
        self.tag_of([message])
    }

    /// The tag of a message in pieces.
    pub(super) fn tag_of<'m>(&self, pieces: impl IntoIterator<Item = &'m [u8]>) -> [u8; 32] {
        let mut inner = self.inner.clone();
        pieces.into_iter().for_each(|piece| inner.update(piece));
        self.outside(inner)
    }

    /// The tag of all that a reader gives.
    ///
    /// # Errors
    /// The I/O error.
    pub fn tag_read(&self, mut from: impl Read) -> std::io::Result<[u8; 32]> {
        let (mut inner, mut buffer) = (self.inner.clone(), vec![0; BUFFER]);
        loop {
            match from.read(&mut buffer)? {
                0 => return Ok(self.outside(inner)),
                read => inner.update(&buffer[..read]),
            }
        }
    }

    /// A name of the key, by which a file says whose it is.
    pub fn name(&self) -> String {
        hex::encode(&self.tag(b"dpgp name of the key")[..8])
    }

    fn outside(&self, inner: Sha256) -> [u8; 32] {
        self.outer.clone().chain_update(inner.finalize()).finalize().into()
    }
}

fn padded(block: &[u8; BLOCK], pad: u8) -> Sha256 {
    Sha256::new_with_prefix(block.map(|byte| byte ^ pad))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test cases 1 to 4, 6 and 7: key, message, tag.
    #[test]
    fn known_tags() {
        let counting: Vec<u8> = (1..=25).collect();
        let larger =
            b"This is a test using a larger than block-size key and a larger than block-size data. The key \
                       needs to be hashed before being used by the HMAC algorithm.";
        let cases: [(&[u8], &[u8], &str); 6] = [
            (&[0x0b; 20], b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (&[0xaa; 20], &[0xdd; 50], "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
            (&counting, &[0xcd; 50], "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
            (
                &[0xaa; 131],
                b"Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
            (&[0xaa; 131], larger, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
        ];
        for (key, message, tag) in cases {
            let key = DataKey::new(key);
            assert_eq!(hex::encode(key.tag(message)), tag);
            assert_eq!(hex::encode(key.tag_read(message).unwrap()), tag);
            let (head, tail) = message.split_at(message.len() / 2);
            assert_eq!(hex::encode(key.tag_of([head, tail])), tag);
        }
    }

    #[test]
    fn a_key_does_not_show_itself() {
        assert_eq!(format!("{:?}", DataKey::new(b"secret words")), "DataKey(secret)");
    }
}

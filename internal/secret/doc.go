// Package secret keeps secrets out of sight: [Text] holds an opened one in memory and never prints it, [Keyring] seals
// one for the database and opens it again.
//
//	PATCHBAY_KEYSET ── KEK ──wraps── Keyring ─┬─ Sealer: AES-256-GCM, the installation's ──seals── Sealer of each tenant: what the database stores
//	(or a KMS's)      (32 bytes)              └─ MAC keyset: HMAC-SHA-256, which verifies keys and tokens
//
// A sealed secret is bound to its additional data ([AD]: tenant, table, column, row), so it does not open in another row. The
// keysets are tink's: each ciphertext names its key (bytes 2–5), and a keyset may hold older keys beside the primary. A rotation
// adds a key ([Sealer.WithNewKey]), makes it primary ([Sealer.Promoted]), and drops the others once nothing is sealed by them
// ([Sealer.Retired]). MAC keys rotate with it ([Keyring.WithNewMAC]); those that still verify stored MACs stay.
//
// Reveal is the only way to the characters of a Text, and the word to search for in a review.
package secret

// Package secret keeps secrets out of sight: [Text] holds an opened one in memory and never prints it, [Keyring] seals
// one for the database and opens it again.
//
//	PATCHBAY_KEYSET ── KEK ──wraps── Keyring ─┬─ Sealer: AES-256-GCM, the installation's ──seals── Sealer of each tenant: what the database stores
//	(or a KMS's)      (32 bytes)              └─ MAC keyset: HMAC-SHA-256, what a key or token is recognised by
//
// A sealed secret is bound to its place ([AD]: tenant, table, column, row): moved to another row it does not open. The
// keysets are tink's, so each ciphertext names its key (bytes 2–5), and a keyset may hold older keys beside the one that
// seals: a rotation adds a key ([Sealer.WithNewKey]), makes it the one that seals ([Sealer.Promoted]), and drops the others
// when nothing is sealed by them ([Sealer.Retired]). What authenticates is rotated with it ([Keyring.WithNewMAC]), and keeps the keys by which
// somebody is recognised.
//
// Reveal is the only way to the characters of a Text, and the word to search for in a review.
package secret

// Package kms has a key-management service hold the key that PATCHBAY_KEYSET would be: the service wraps it, the database keeps what it
// wrapped, and one request at the start opens that.
//
//	aws-kms://arn:aws:kms:eu-central-1:111122223333:key/…   AWS KMS: signed requests for Encrypt and Decrypt
//	hcvault://vault.example:8200/transit/keys/patchbay      the transit engine of Vault or OpenBao
//
// The addresses are tink's. The requests are our own, one each way: tink's two clients, and what they bring, would make the program a sixth
// larger. Who Patchbay is there the environment tells, as it tells other programs: VAULT_TOKEN, and what the AWS SDK looks for.
package kms

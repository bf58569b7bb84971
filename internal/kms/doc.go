// Package kms lets a key-management service wrap the key that PATCHBAY_KEYSET would hold. The database stores the wrapped key, and one
// request at startup unwraps it.
//
//	aws-kms://arn:aws:kms:eu-central-1:111122223333:key/…   AWS KMS (aws.go): signed requests for Encrypt and Decrypt
//	hcvault://vault.example:8200/transit/keys/patchbay      the transit engine of Vault or OpenBao (vault.go)
//
// Addresses are tink's (address.go). The requests are our own: tink's clients would enlarge the program by a sixth. Credentials come
// from the environment: VAULT_TOKEN, and the sources of the AWS SDK.
package kms

// Package kmstest simulates key-management services in the test's process: AWS KMS, which verifies signatures
// by AWS's own code, and Vault's transit engine. They really encrypt, with keys that live as long as the test.
package kmstest

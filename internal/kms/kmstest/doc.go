// Package kmstest plays key-management services in the test's process: AWS KMS, which checks each request's signature by AWS's own code, and the
// transit engine of Vault. What they wrap is really encrypted, by keys that live as long as the test.
package kmstest

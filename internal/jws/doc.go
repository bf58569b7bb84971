// Package jws verifies what clients sign: the accepted algorithms and keys, and DPoP proofs (RFC 9449).
package jws

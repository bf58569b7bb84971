// Package jwstest signs DPoP proofs as a client does.
package jwstest

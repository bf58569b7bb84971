package jws

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// Sizes of accepted RSA keys.
const (
	minRSABits = 2048
	maxRSABits = 8192
)

// SignatureAlgorithms are the accepted ones. None uses a shared secret, so a public key never verifies a MAC.
var SignatureAlgorithms = []jose.SignatureAlgorithm{
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA, jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
}

// Algorithms returns the names of SignatureAlgorithms, for metadata.
func Algorithms() []string {
	names := make([]string, len(SignatureAlgorithms))
	for i, alg := range SignatureAlgorithms {
		names[i] = string(alg)
	}
	return names
}

// AlgorithmNames returns the names separated by spaces (RFC 9449 section 7.1).
func AlgorithmNames() string { return strings.Join(Algorithms(), " ") }

// IsKeyFor reports whether a key is for signatures of an algorithm (RFC 7518 section 3).
func IsKeyFor(key jose.JSONWebKey, alg jose.SignatureAlgorithm) bool {
	if key.Use != "" && key.Use != "sig" || key.Algorithm != "" && key.Algorithm != string(alg) {
		return false
	}
	switch public := key.Key.(type) {
	case *rsa.PublicKey:
		bits := public.N.BitLen()
		return (alg[0] == 'R' || alg[0] == 'P') && bits >= minRSABits && bits <= maxRSABits
	case *ecdsa.PublicKey:
		return curveBits[alg] == public.Curve.Params().BitSize
	case ed25519.PublicKey:
		return alg == jose.EdDSA
	}
	return false
}

// curveBits are the sizes of the curves of ECDSA algorithms (RFC 7518 section 3.4).
var curveBits = map[jose.SignatureAlgorithm]int{jose.ES256: 256, jose.ES384: 384, jose.ES512: 521}

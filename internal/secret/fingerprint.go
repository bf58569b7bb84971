package secret

import (
	"encoding/hex"
	"fmt"
)

// Fingerprint returns a stand-in for a secret: equal for equal secrets of the same object of, else different.
// Without the keyring none can be computed, so guesses cannot be tested. Fingerprints of different objects or
// MAC key versions are not comparable; the first word names the version: "hmac", "hmac-2" and so on.
func (k *Keyring) Fingerprint(text Text, of ...string) (string, error) {
	mac, err := k.MAC("fingerprint", joinParts(append(of, text.Reveal())...))
	if err != nil {
		return "", err
	}
	word := "hmac:"
	if k.Version() > 1 {
		word = fmt.Sprintf("hmac-%d:", k.Version())
	}
	return word + hex.EncodeToString(mac[len(mac)-fingerprintSize:]), nil
}

const fingerprintSize = 16 // bytes of the HMAC

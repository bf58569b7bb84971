package secret

import (
	"encoding/hex"
	"fmt"
)

// Fingerprint stands for a secret where that may not stand: the same secret of the same thing has the same one, and another secret another. Who
// has not the keyring can compute none, and so cannot try guesses on it. of names the thing: between two, nothing can be compared. Nor can it
// between two versions of the key that authenticates, which stand in the first word: "hmac" the first, "hmac-2" the next.
func (k *Keyring) Fingerprint(text Text, of ...string) (string, error) {
	mac, err := k.MAC("fingerprint", joined(append(of, text.Reveal())...))
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

package secret

import "encoding/hex"

// Fingerprint stands for a secret where that may not stand: the same secret of the same thing has the same one, and another secret another. Who
// has not the keyring can compute none, and so cannot try guesses on it. of names the thing: between two, nothing can be compared.
func (k *Keyring) Fingerprint(text Text, of ...string) (string, error) {
	mac, err := k.MAC("fingerprint", joined(append(of, text.Reveal())...))
	if err != nil {
		return "", err
	}
	return "hmac:" + hex.EncodeToString(mac[len(mac)-fingerprintSize:]), nil
}

const fingerprintSize = 16 // bytes of the HMAC

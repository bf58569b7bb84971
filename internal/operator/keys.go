package operator

import (
	"fmt"

	"patchbay/internal/secret"
)

type keysNewCommand struct{}

func (keysNewCommand) Help() string {
	return "Prints 32 random bytes in base64. Store them with your secrets and set them on every replica: encrypted data cannot be read without them."
}

// Run prints the key.
func (keysNewCommand) Run(p IO) error {
	kek, err := secret.NewKEK()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.Stdout, kek.Encode())
	return err
}

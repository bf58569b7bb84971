package operator

import (
	"fmt"

	"patchbay/internal/secret"
)

type keysNewCommand struct{}

func (keysNewCommand) Help() string {
	return "32 random bytes in base64. Keep them with your secrets and give them to every replica: nothing else opens what they sealed."
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

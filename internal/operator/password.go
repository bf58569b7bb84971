package operator

import (
	"fmt"

	"golang.org/x/term"

	"patchbay/internal/auth"
	"patchbay/internal/config"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
)

// newPassword reads PATCHBAY_PASSWORD, or else prompts twice on the terminal, without echo.
func newPassword(p IO) (secret.Text, error) {
	if value := p.Getenv(config.Password); value != "" {
		return secret.Text(value), auth.CheckPassword(config.Password, secret.Text(value))
	}
	if p.Stdin == nil || !term.IsTerminal(int(p.Stdin.Fd())) {
		return "", fault.Errorf(fault.Invalid, "No terminal to read the password from. Set %s.", config.Password)
	}
	password, err := readPassword(p, "Password: ")
	if err != nil {
		return "", err
	}
	if err := auth.CheckPassword("password", password); err != nil {
		return "", err
	}
	again, err := readPassword(p, "Repeat password: ")
	if err != nil {
		return "", err
	}
	if password != again {
		return "", fault.Errorf(fault.Invalid, "The passwords don't match.")
	}
	return password, nil
}

func readPassword(p IO, prompt string) (secret.Text, error) {
	_, _ = fmt.Fprint(p.Stderr, prompt)
	typed, err := term.ReadPassword(int(p.Stdin.Fd()))
	_, _ = fmt.Fprintln(p.Stderr)
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return secret.Text(typed), nil
}

package main

import (
	"fmt"

	"golang.org/x/term"

	"patchbay/internal/auth"
	"patchbay/internal/config"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
)

// newPassword reads PATCHBAY_PASSWORD, or else prompts twice on the terminal, without echo.
func newPassword(p commandIO) (secret.Text, error) {
	if value := p.getenv(config.Password); value != "" {
		return secret.Text(value), auth.CheckPassword(config.Password, secret.Text(value))
	}
	if p.stdin == nil || !term.IsTerminal(int(p.stdin.Fd())) {
		return "", fault.Errorf(fault.Invalid, "There is no terminal to ask for the password on. Set %s.", config.Password)
	}
	password, err := readPassword(p, "Password: ")
	if err != nil {
		return "", err
	}
	if err := auth.CheckPassword("password", password); err != nil {
		return "", err
	}
	again, err := readPassword(p, "The same again: ")
	if err != nil {
		return "", err
	}
	if password != again {
		return "", fault.Errorf(fault.Invalid, "The two passwords differ.")
	}
	return password, nil
}

func readPassword(p commandIO, prompt string) (secret.Text, error) {
	_, _ = fmt.Fprint(p.stderr, prompt)
	typed, err := term.ReadPassword(int(p.stdin.Fd()))
	_, _ = fmt.Fprintln(p.stderr)
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return secret.Text(typed), nil
}

package mail

import (
	"fmt"
	"net/mail"
	"net/url"
	"strconv"

	"patchbay/internal/secret"
)

// TLS is how a connection is encrypted.
type TLS string

// The values.
const (
	StartTLS TLS = "starttls"
	Implicit TLS = "implicit" // from the first byte
	NoTLS    TLS = "none"
)

// Server is an SMTP server.
type Server struct {
	Host     string
	Port     int
	TLS      TLS
	Username string // empty: no authentication
	Password secret.Text
}

// Parse reads smtp://USER:PASSWORD@HOST:PORT, smtps://… or smtp://HOST:PORT?tls=none. Its errors do not quote the URL.
func Parse(raw secret.Text) (Server, error) {
	u, err := url.Parse(raw.Reveal())
	if err != nil {
		return Server{}, fmt.Errorf("must be a URL such as smtp://user:password@mail.example.com:587")
	}
	s := Server{Host: u.Hostname(), Username: u.User.Username()}
	if password, ok := u.User.Password(); ok {
		s.Password = secret.Text(password)
	}
	switch {
	case u.Scheme == "smtp" && u.RawQuery == "":
		s.TLS, s.Port = StartTLS, 587
	case u.Scheme == "smtp" && u.RawQuery == "tls=none":
		s.TLS, s.Port = NoTLS, 25
	case u.Scheme == "smtps" && u.RawQuery == "":
		s.TLS, s.Port = Implicit, 465
	default:
		return Server{}, fmt.Errorf("must begin with smtp:// or smtps://, without query except tls=none")
	}
	if u.Path != "" && u.Path != "/" || u.Fragment != "" || s.Host == "" {
		return Server{}, fmt.Errorf("must be a host with an optional port, and no path")
	}
	if u.Port() != "" {
		if s.Port, err = strconv.Atoi(u.Port()); err != nil || s.Port < 1 || s.Port > 65535 {
			return Server{}, fmt.Errorf("must have a port from 1 to 65535")
		}
	}
	if s.TLS == NoTLS && s.Username != "" {
		return Server{}, fmt.Errorf("must have no password with tls=none, which would send it in plain text")
	}
	return s, nil
}

// ParseAddress reads a sender, as "Patchbay <patchbay@example.com>".
func ParseAddress(raw string) (string, error) {
	a, err := mail.ParseAddress(raw)
	if err != nil {
		return "", fmt.Errorf("must be an email address, such as Patchbay <patchbay@example.com>")
	}
	return a.String(), nil
}

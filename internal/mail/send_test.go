package mail_test

import (
	"strings"
	"testing"

	"patchbay/internal/mail"
	"patchbay/internal/mail/mailtest"
	"patchbay/internal/secret"
)

func TestSend_ByEachKindOfConnection(t *testing.T) {
	t.Parallel()
	for _, kind := range []mail.TLS{mail.StartTLS, mail.Implicit, mail.NoTLS} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			server := mailtest.Start(t, kind)
			err := server.Sender().Send(t.Context(), mail.Message{To: "ann@example.com", Subject: "Zugriff für Ann\r\nBcc: eve@example.com", Text: "Grüße\n.\nEnd"})
			if err != nil {
				t.Fatal(err)
			}
			all := server.All()
			if len(all) != 1 {
				t.Fatalf("received %d", len(all))
			}
			got := all[0]
			if got.From != "patchbay@example.com" || got.To != "ann@example.com" || got.TLS != (kind != mail.NoTLS) || (got.User != "") != (kind != mail.NoTLS) {
				t.Errorf("envelope = %+v", got)
			}
			if !strings.HasPrefix(got.Subject(), "Zugriff für Ann") || got.Header.Get("Bcc") != "" || got.Header.Get("Auto-Submitted") != "auto-generated" {
				t.Errorf("header = %v", got.Header)
			}
			if text := strings.ReplaceAll(got.Text, "\r\n", "\n"); strings.TrimSpace(text) != "Grüße\n.\nEnd" {
				t.Errorf("text = %q", text)
			}
		})
	}
}

func TestSend_FailsWithoutTellingThePassword(t *testing.T) {
	t.Parallel()
	message := mail.Message{To: "ann@example.com", Subject: "s", Text: "t"}
	wrong := mailtest.Start(t, mail.StartTLS)
	wrong.At.Password = "not the password"
	unknown := mailtest.Start(t, mail.StartTLS)
	unknown.Roots = nil
	plain := mailtest.Start(t, mail.NoTLS) // a server without TLS, where it is required
	plain.At.TLS = mail.StartTLS
	refusing := mailtest.Start(t, mail.Implicit)
	refusing.RefuseNext(1)
	for name, server := range map[string]*mailtest.Server{"password": wrong, "certificate": unknown, "no TLS": plain, "refused": refusing} {
		err := server.Sender().Send(t.Context(), message)
		if err == nil || len(server.All()) != 0 {
			t.Errorf("%s: sent, %v", name, err)
		} else if strings.Contains(err.Error(), "password of SMTP") || strings.Contains(err.Error(), "not the password") {
			t.Errorf("%s: the error has the password: %v", name, err)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]mail.Server{
		"smtp://mail.example.com":                       {Host: "mail.example.com", Port: 587, TLS: mail.StartTLS},
		"smtp://ann%40example.com:p%2Fw@mail.test:2525": {Host: "mail.test", Port: 2525, TLS: mail.StartTLS, Username: "ann@example.com", Password: "p/w"},
		"smtps://u:p@mail.example.com":                  {Host: "mail.example.com", Port: 465, TLS: mail.Implicit, Username: "u", Password: "p"},
		"smtp://localhost?tls=none":                     {Host: "localhost", Port: 25, TLS: mail.NoTLS},
	} {
		if got, err := mail.Parse(secret.Text(raw)); err != nil || got != want {
			t.Errorf("%s: %+v, %v", raw, got, err)
		}
	}
	for _, raw := range []string{
		"mail.example.com:587", "http://mail.example.com", "smtp://", "smtp://u:hunter2@mail.test/path", "smtp://mail.test?tls=maybe", "smtp://u:hunter2@mail.test?tls=none",
		"smtp://mail.test:0", "smtp://u:hunter2@mail.test:x", "smtps://mail.test?tls=none",
	} {
		if _, err := mail.Parse(secret.Text(raw)); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", raw, err)
		}
	}
	if from, err := mail.ParseAddress("Patchbay <patchbay@example.com>"); err != nil || from != `"Patchbay" <patchbay@example.com>` {
		t.Errorf("%s, %v", from, err)
	}
	if _, err := mail.ParseAddress("patchbay"); err == nil {
		t.Error("no address is taken for one")
	}
}

package doctor

import (
	"strings"
	"testing"

	"patchbay/internal/config"
	"patchbay/internal/mail"
	"patchbay/internal/mail/mailtest"
)

func TestDoctor_ChecksSMTP(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind   mail.TLS
		change func(*mail.Options)
		want   string
	}{
		"starttls":          {mail.StartTLS, func(*mail.Options) {}, `OK       e-mail         127\.0\.0\.1:\d+ accepts the password, with TLS`},
		"implicit":          {mail.Implicit, func(*mail.Options) {}, `OK       e-mail         127\.0\.0\.1:\d+ accepts the password, with TLS`},
		"no user":           {mail.StartTLS, func(o *mail.Options) { o.Server.Username = "" }, `OK       e-mail         127\.0\.0\.1:\d+ accepts connections, with TLS`},
		"plain":             {mail.NoTLS, func(*mail.Options) {}, `OK       e-mail         127\.0\.0\.1:\d+ accepts connections, in plain text`},
		"wrong password":    {mail.StartTLS, func(o *mail.Options) { o.Server.Password = "wrong" }, `PROBLEM  e-mail         \S+ refuses the user name or password\. Fix PATCHBAY_SMTP_URL\.`},
		"own certificate":   {mail.StartTLS, func(o *mail.Options) { o.Roots = nil }, `PROBLEM  e-mail         \S+ has a certificate that this machine doesn't trust \(.*\)\.`},
		"other certificate": {mail.Implicit, func(o *mail.Options) { o.Roots = nil }, `PROBLEM  e-mail         \S+ has a certificate that this machine doesn't trust \(.*\)\.`},
		"no TLS there":      {mail.NoTLS, func(o *mail.Options) { o.Server.TLS = mail.StartTLS }, `PROBLEM  e-mail         \S+ doesn't encrypt as PATCHBAY_SMTP_URL says\.`},
		"no implicit there": {mail.NoTLS, func(o *mail.Options) { o.Server.TLS = mail.Implicit }, `PROBLEM  e-mail         \S+ doesn't encrypt as PATCHBAY_SMTP_URL says\.`},
		"nothing listens":   {mail.NoTLS, func(o *mail.Options) { o.Server.Port = 1 }, `PROBLEM  e-mail         127\.0\.0\.1:1 can't be reached \(.*refused\)\.`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			smtp := mailtest.Start(t, c.kind)
			o := mail.Options{Server: smtp.At, From: "Patchbay <patchbay@example.com>", Roots: smtp.Roots}
			c.change(&o)
			wantFinding(t, func(e *report) { e.checkSMTP(t.Context(), o) }, c.want)
			if n := len(smtp.All()); n != 0 {
				t.Errorf("%d e-mails were sent", n)
			}
		})
	}
}

func TestDoctor_ChecksSMTPOfTheSettings(t *testing.T) {
	t.Parallel()
	smtp := mailtest.Start(t, mail.NoTLS)
	server, err := config.ServerFlags{SMTPURL: smtp.URL(), SMTPFrom: "Patchbay <patchbay@example.com>"}.Check()
	if err != nil {
		t.Fatal(err)
	}
	wantFinding(t, func(e *report) { e.checkMail(t.Context(), server) }, `OK       e-mail         127\.0\.0\.1:\d+ accepts connections, in plain text`)
	server.SMTPURL = ""
	var said strings.Builder
	if (&report{out: &said}).checkMail(t.Context(), server); said.Len() > 0 {
		t.Errorf("without a server: %s", &said)
	}
}

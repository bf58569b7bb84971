package mail

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/textproto"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// sendTimeout is the default timeout of one message, from the connection on.
const sendTimeout = 15 * time.Second

// Options configure a [Sender]. Server and From are required.
type Options struct {
	Server  Server
	From    string         // "Patchbay <patchbay@example.com>"
	Helo    string         // our host name; empty: that of the machine
	Timeout time.Duration  // 0: 15 s
	Roots   *x509.CertPool // of the server's certificate; nil: the system's
}

// Sender sends e-mail. It is safe for concurrent use.
type Sender struct{ options Options }

// New returns a Sender.
func New(o Options) *Sender {
	o.Timeout = cmp.Or(o.Timeout, sendTimeout)
	return &Sender{o}
}

// Message is an e-mail to one person.
type Message struct {
	To      string
	Subject string
	Text    string
}

// Send sends a message. Without an error the server has accepted it.
func (s *Sender) Send(ctx context.Context, m Message) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	if err := msg.From(s.options.From); err != nil {
		return fmt.Errorf("sender: %w", err)
	}
	if err := msg.To(m.To); err != nil {
		return fmt.Errorf("recipient: %w", err)
	}
	msg.Subject(m.Subject)
	msg.SetDate()
	msg.SetMessageID()
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no out-of-office replies
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	client, err := s.newClient()
	if err != nil {
		return fmt.Errorf("set up SMTP: %w", err)
	}
	if err := client.DialAndSendWithContext(ctx, msg); err != nil {
		return fmt.Errorf("send by SMTP: %w", err)
	}
	return nil
}

// Errors of [Sender.Check], besides those of the network and of TLS.
var (
	ErrAuth  = errors.New("the server refuses the user name or password")
	ErrNoTLS = errors.New("the server has no STARTTLS")
)

// Check connects and signs in as for a message, and sends none.
func (s *Sender) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	client, err := s.newClient()
	if err != nil {
		return fmt.Errorf("set up SMTP: %w", err)
	}
	err = client.DialWithContext(ctx)
	switch reply, ok := errors.AsType[*textproto.Error](err); {
	case err == nil:
		return client.Close()
	case ok && (reply.Code == authRefused || reply.Code == authFailed):
		return ErrAuth
	case strings.Contains(err.Error(), "does not support STARTTLS"): // the library has no error of its own
		return ErrNoTLS
	default:
		return fmt.Errorf("connect by SMTP: %w", err)
	}
}

// Replies to AUTH (RFC 4954 section 6).
const (
	authFailed  = 454
	authRefused = 535
)

func (s *Sender) newClient() (*gomail.Client, error) {
	server := s.options.Server
	opts := []gomail.Option{
		gomail.WithPort(server.Port), gomail.WithTimeout(s.options.Timeout), gomail.WithoutNoop(),
		gomail.WithTLSConfig(&tls.Config{ServerName: server.Host, RootCAs: s.options.Roots, MinVersion: tls.VersionTLS12}),
	}
	if s.options.Helo != "" {
		opts = append(opts, gomail.WithHELO(s.options.Helo))
	}
	switch server.TLS {
	case Implicit:
		opts = append(opts, gomail.WithSSL())
	case NoTLS:
		opts = append(opts, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		opts = append(opts, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if server.Username != "" {
		opts = append(opts, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(server.Username), gomail.WithPassword(server.Password.Reveal()))
	}
	return gomail.NewClient(server.Host, opts...)
}

package mailtest

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http/httptest"
	"net/mail"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	ours "patchbay/internal/mail"
	"patchbay/internal/secret"
)

// The account of a server with [ours.StartTLS] or [ours.Implicit].
const (
	Username = "patchbay"
	Password = secret.Text("a password of SMTP")
)

// Received is a message that the server accepted.
type Received struct {
	From, To string // of the envelope
	TLS      bool
	User     string // empty: not authenticated
	Header   mail.Header
	Text     string // decoded
}

// Server is a running server.
type Server struct {
	At    ours.Server
	Roots *x509.CertPool // of its certificate

	mu       sync.Mutex
	received []Received
	refusals int
	arrived  chan struct{} // one value for each message, up to its capacity
}

// Start starts a server of a kind until the test ends.
func Start(t testing.TB, kind ours.TLS) *Server {
	t.Helper()
	s := &Server{Roots: x509.NewCertPool(), arrived: make(chan struct{}, 100)}
	certificate := httptest.NewTLSServer(nil)
	config := &tls.Config{Certificates: certificate.TLS.Certificates}
	s.Roots.AddCert(certificate.Certificate())
	certificate.Close()
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &smtpSession{server: s, conn: c, wantsUser: kind != ours.NoTLS}, nil
	}))
	server.Domain, server.ErrorLog = "localhost", quiet{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	switch kind {
	case ours.StartTLS:
		server.TLSConfig = config
	case ours.Implicit:
		listener = tls.NewListener(listener, config)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	s.At = ours.Server{Host: "127.0.0.1", Port: port, TLS: kind}
	if kind != ours.NoTLS {
		s.At.Username, s.At.Password = Username, Password
	}
	return s
}

// Sender returns a Sender by this server.
func (s *Server) Sender() *ours.Sender {
	return ours.New(ours.Options{Server: s.At, From: "Patchbay <patchbay@example.com>", Helo: "patchbay.example.com", Roots: s.Roots, Timeout: 5 * time.Second})
}

// URL is the value of PATCHBAY_SMTP_URL for a server with [ours.NoTLS].
func (s *Server) URL() string {
	return "smtp://" + net.JoinHostPort(s.At.Host, strconv.Itoa(s.At.Port)) + "?tls=none"
}

// RefuseNext makes the server refuse the next n messages with a temporary error.
func (s *Server) RefuseNext(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals = n
}

// All returns the accepted messages.
func (s *Server) All() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Received(nil), s.received...)
}

// Wait returns the messages once there are n.
func (s *Server) Wait(t testing.TB, n int) []Received {
	t.Helper()
	for {
		if all := s.All(); len(all) >= n {
			return all
		}
		select {
		case <-s.arrived:
		case <-t.Context().Done():
			t.Fatalf("only %d of %d messages arrived", len(s.All()), n)
		case <-time.After(time.Minute):
			t.Fatalf("only %d of %d messages arrived within a minute", len(s.All()), n)
		}
	}
}

// smtpSession is one connection.
type smtpSession struct {
	server    *Server
	conn      *smtp.Conn
	wantsUser bool
	got       Received
}

func (s *smtpSession) AuthMechanisms() []string {
	if !s.wantsUser {
		return nil
	}
	return []string{sasl.Plain}
}

func (s *smtpSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, username, password string) error {
		if username != Username || password != Password.Reveal() {
			return smtp.ErrAuthFailed
		}
		s.got.User = username
		return nil
	}), nil
}

func (s *smtpSession) Mail(from string, _ *smtp.MailOptions) error {
	if s.wantsUser && s.got.User == "" {
		return smtp.ErrAuthRequired
	}
	s.got.From = from
	return nil
}

func (s *smtpSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.got.To = to
	return nil
}

func (s *smtpSession) Data(r io.Reader) error {
	m, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(decodeBody(m))
	if err != nil {
		return err
	}
	_, s.got.TLS = s.conn.TLSConnectionState()
	s.got.Header, s.got.Text = m.Header, string(text)
	return s.server.acceptMessage(s.got)
}

func (s *Server) acceptMessage(m Received) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusals > 0 {
		s.refusals--
		return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "try again later"}
	}
	s.received = append(s.received, m)
	select {
	case s.arrived <- struct{}{}:
	default:
	}
	return nil
}

func (s *smtpSession) Reset()        { s.got = Received{User: s.got.User} }
func (s *smtpSession) Logout() error { return nil }

// quiet is a log for what tests provoke.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

package auditstreams_test

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/auditstreams"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// syslogReceiver takes frames of RFC 5425 with messages of RFC 5424.
type syslogReceiver struct {
	address, ca string
	listener    net.Listener
	mu          sync.Mutex
	events      []received    // guarded by mu
	conns       int           // guarded by mu
	resets      int           // guarded by mu; connections to break after their first frame
	early       int           // guarded by mu; connections to close after their handshake
	closed      chan struct{} // gets an item after each early close
	silent      atomic.Bool   // it never closes
}

// receiveSyslog starts a receiver with a certificate of its own CA.
func receiveSyslog(t *testing.T) *syslogReceiver {
	t.Helper()
	certified := httptest.NewTLSServer(nil)
	defer certified.Close()
	r := &syslogReceiver{closed: make(chan struct{}, 10), ca: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certified.Certificate().Raw}))}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{MinVersion: tls.VersionTLS12, Certificates: certified.TLS.Certificates})
	if err != nil {
		t.Fatal(err)
	}
	r.listener, r.address = listener, "tls://"+listener.Addr().String()
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { r.readFrames(t, c) })
		}
	})
	t.Cleanup(func() { _ = listener.Close(); conns.Wait() })
	return r
}

func (r *syslogReceiver) readFrames(t *testing.T, c net.Conn) {
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(maxWait))
	r.mu.Lock()
	r.conns++
	r.mu.Unlock()
	if r.closesEarly(t, c) {
		return
	}
	in := bufio.NewReader(c)
	for {
		length, err := in.ReadString(' ')
		if err != nil {
			if length != "" || !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "bad certificate") {
				t.Errorf("%q between frames: %v", length, err)
			}
			if r.silent.Load() {
				_, _ = io.Copy(io.Discard, c.(*tls.Conn).NetConn()) // until the sender goes
			}
			return
		}
		n, err := strconv.Atoi(strings.TrimSuffix(length, " "))
		if err != nil || n < 1 || length[0] == '0' {
			t.Errorf("length %q", length)
			return
		}
		message := make([]byte, n)
		if _, err := io.ReadFull(in, message); err != nil {
			t.Error(err)
			return
		}
		if r.breaks(c) {
			return
		}
		e := parseSyslog(t, message)
		r.mu.Lock()
		r.events = append(r.events, e)
		r.mu.Unlock()
	}
}

// closesEarly closes a connection after its handshake, if that is asked for, as a load balancer without a backend does.
func (r *syslogReceiver) closesEarly(t *testing.T, c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.early == 0 {
		return false
	}
	r.early--
	secure := c.(*tls.Conn)
	if err := secure.Handshake(); err != nil {
		t.Error(err)
	}
	plain := secure.NetConn().(*net.TCPConn)
	_ = plain.CloseWrite()
	r.closed <- struct{}{}
	_, _ = io.Copy(io.Discard, plain) // no reset: the sender sees only the end
	return true
}

// breaks resets the connection, if that is asked for.
func (r *syslogReceiver) breaks(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.resets == 0 {
		return false
	}
	r.resets--
	if plain, ok := c.(*tls.Conn).NetConn().(*net.TCPConn); ok {
		_ = plain.SetLinger(0)
		_ = plain.Close()
	}
	return true
}

func (r *syslogReceiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received{}, r.events...)
}

// syslogHeader is the header of RFC 5424 section 6, with no structured data.
var syslogHeader = regexp.MustCompile(`^<(\d{1,3})>1 (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z) ([!-~]{1,255}) ([!-~]{1,48}) ([!-~]{1,128}) ([!-~]{1,32}) - `)

func parseSyslog(t *testing.T, message []byte) received {
	t.Helper()
	head := syslogHeader.FindSubmatch(message)
	if head == nil {
		t.Errorf("no message of RFC 5424: %q", message)
		return received{}
	}
	priority, _ := strconv.Atoi(string(head[1]))
	e := parseEvent(t, message[len(head[0]):])
	if priority/8 != 13 || priority%8 != 6 && priority%8 != 4 || string(head[3]) != "patchbay.example.com" || string(head[4]) != "patchbay" || string(head[6]) != e.Metadata.LogName {
		t.Errorf("header %q", head[0])
	}
	if _, err := time.Parse(time.RFC3339Nano, string(head[2])); err != nil {
		t.Error(err)
	}
	return e
}

func (r *syslogReceiver) stream() connectors.AuditStream {
	return connectors.AuditStream{Name: "Syslog", Kind: connectors.StreamSyslog, URL: r.address, CA: r.ca}
}

func (w *streamTest) createSyslog(t *testing.T, s connectors.AuditStream) connectors.AuditStream {
	t.Helper()
	made, err := w.service.Create(t.Context(), w.admin, s, "")
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestSyslog_SendsFramesOverTLS(t *testing.T) {
	t.Parallel()
	w, there := newStreamTest(t), receiveSyslog(t)
	stream := w.createSyslog(t, there.stream())
	start(t, w.service)
	w.record(t, "sso.refuse", "zoë@acme.example\nx")
	for range 10 {
		w.endCall(t, "search")
	}
	w.waitDelivered(t, stream.ID)
	wantChains(t, there.all(), stream.Cursor, w.get(t, stream.ID).Cursor)
	wantOCSF(t, there.all())
	if tested, err := w.service.Test(t.Context(), w.admin, stream.ID); err != nil || !tested.Accepted {
		t.Errorf("%+v, %v", tested, err)
	}
}

// A receiver that breaks off, or closes after the handshake as a load balancer without a backend does, has not read all:
// its batch is sent again.
func TestSyslog_ResendsWhatWasNotRead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ resets, early int }{"reset": {resets: 2}, "early close": {early: 3}} {
		w, there := newStreamTest(t), receiveSyslog(t)
		there.mu.Lock()
		there.resets, there.early = tc.resets, tc.early
		there.mu.Unlock()
		stream := w.createSyslog(t, there.stream())
		for range 10 {
			w.endCall(t, "search")
		}
		start(t, w.newService(w.St, func(o *auditstreams.Options) {
			o.Egress = &lateEgress{Egress: o.Egress, t: t, there: there, early: tc.early}
		}))
		waitFor(t, "a failure after the "+name, func() bool {
			return w.get(t, stream.ID).LastError == "It closed the connection before it had read everything."
		})
		w.waitDelivered(t, stream.ID)
		wantChains(t, there.all(), stream.Cursor, w.get(t, stream.ID).Cursor)
	}
}

// lateEgress returns a connection after the receiver has closed it, if it closes early.
type lateEgress struct {
	auditstreams.Egress
	t     *testing.T
	there *syslogReceiver
	early int
}

func (e *lateEgress) DialTLS(ctx context.Context, address string, roots *x509.CertPool) (*tls.Conn, error) {
	c, err := e.Egress.DialTLS(ctx, address, roots)
	if e.early == 0 {
		return c, err
	}
	e.early--
	select {
	case <-e.there.closed:
	case <-time.After(maxWait):
		e.t.Errorf("waited %v for the receiver to close", maxWait)
	}
	return c, err
}

func TestSyslog_SilenceIsAFailure(t *testing.T) {
	t.Parallel()
	w, there := newStreamTest(t), receiveSyslog(t)
	there.silent.Store(true)
	stream := w.createSyslog(t, there.stream())
	start(t, w.newService(w.St, func(o *auditstreams.Options) { o.Timeout = time.Second }))
	waitFor(t, "a failure", func() bool { return w.get(t, stream.ID).Failures > 0 })
	if now := w.get(t, stream.ID); now.Cursor.AuditN != stream.Cursor.AuditN || now.LastError != "It didn't close the connection within 1 seconds, which would confirm the events." {
		t.Errorf("%+v", now)
	}
	there.silent.Store(false)
	w.waitDelivered(t, stream.ID)
}

func TestSyslog_RefusesAnUnknownCertificate(t *testing.T) {
	t.Parallel()
	w, there := newStreamTest(t), receiveSyslog(t)
	for name, ca := range map[string]string{"the system's": "", "another": newOtherCA(t)} {
		s := there.stream()
		s.CA = ca
		stream := w.createSyslog(t, s)
		tested, err := w.service.Test(t.Context(), w.admin, stream.ID)
		if err != nil || tested.Accepted || tested.Sentence != "It has no trusted certificate or doesn't speak TLS." {
			t.Errorf("%s: %+v, %v", name, tested, err)
		}
	}
	if len(there.all()) != 0 {
		t.Error("something was sent")
	}
}

// newOtherCA returns a certificate that signs none of the receiver's.
func newOtherCA(t *testing.T) string {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}))
}

func secretText(text string) secret.Text { return secret.Text(text) }

func TestCreate_ChecksTheReceiver(t *testing.T) {
	t.Parallel()
	w := newStreamTest(t)
	strict := w.newService(w.St, func(o *auditstreams.Options) { o.Egress = safehttp.New(safehttp.Options{Mode: safehttp.Public}) })
	for name, tc := range map[string]struct {
		stream connectors.AuditStream
		secret string
		at     string
	}{
		"private address":     {httpsStream("https://10.0.0.1/"), "", "url"},
		"metadata":            {httpsStream("http://169.254.169.254/latest"), "", "url"},
		"loopback":            {httpsStream("https://127.0.0.1/"), "", "url"},
		"user name":           {httpsStream("https://ann:pw@siem.example.com/"), "", "url"},
		"other scheme":        {httpsStream("file:///etc/passwd"), "", "url"},
		"header of ours":      {connectors.AuditStream{Name: "A", Kind: connectors.StreamHTTPS, URL: "https://siem.example.com/", Header: "Host"}, "x", "header"},
		"header injection":    {httpsStream("https://siem.example.com/"), "Bearer x\r\nX-Evil: 1", "secret"},
		"kind":                {connectors.AuditStream{Name: "A", Kind: "udp", URL: "https://siem.example.com/"}, "", "kind"},
		"syslog private":      {connectors.AuditStream{Name: "A", Kind: connectors.StreamSyslog, URL: "tls://192.168.0.1:6514"}, "", "url"},
		"syslog port":         {connectors.AuditStream{Name: "A", Kind: connectors.StreamSyslog, URL: "tls://logs.example.com:25"}, "", "url"},
		"syslog over TCP":     {connectors.AuditStream{Name: "A", Kind: connectors.StreamSyslog, URL: "tcp://logs.example.com:6514"}, "", "url"},
		"syslog with a path":  {connectors.AuditStream{Name: "A", Kind: connectors.StreamSyslog, URL: "tls://logs.example.com:6514/x"}, "", "url"},
		"syslog with a value": {connectors.AuditStream{Name: "A", Kind: connectors.StreamSyslog, URL: "tls://logs.example.com:6514"}, "x", "secret"},
		"no certificate":      {connectors.AuditStream{Name: "A", Kind: connectors.StreamSyslog, URL: "tls://logs.example.com:6514", CA: "x"}, "", "ca"},
	} {
		_, err := strict.Create(t.Context(), w.admin, tc.stream, secretText(tc.secret))
		fields := fault.As(err).Fields
		if !fault.Is(err, fault.Invalid) || len(fields) != 1 || fields[0].Location != tc.at {
			t.Errorf("%s: %v, %+v", name, err, fields)
		}
	}
	good := connectors.AuditStream{Name: "A", Kind: connectors.StreamSyslog, URL: "tls://logs.example.com"}
	if made, err := strict.Create(t.Context(), w.admin, good, ""); err != nil || made.URL != "tls://logs.example.com:6514" || made.Format != connectors.StreamFrames {
		t.Errorf("%+v, %v", made, err)
	}
}

func TestCreate_LimitsStreamsAndRoles(t *testing.T) {
	t.Parallel()
	w := newStreamTest(t)
	for _, role := range []connectors.Role{connectors.RoleViewer, connectors.RoleMember, connectors.RoleAuditor} {
		other := w.admin
		other.Role = role
		if _, err := w.service.Create(t.Context(), other, httpsStream("https://siem.example.com/"), ""); !fault.Is(err, fault.Denied) {
			t.Errorf("%s: %v", role, err)
		}
	}
	var creators sync.WaitGroup
	for range connectors.MaxAuditStreams + 3 {
		creators.Go(func() {
			if _, err := w.service.Create(t.Context(), w.admin, httpsStream("https://siem.example.com/"), ""); err != nil && !fault.Is(err, fault.Conflict) {
				t.Error(err)
			}
		})
	}
	creators.Wait()
	if n := w.Count(t, "audit_streams"); n != connectors.MaxAuditStreams {
		t.Errorf("%d streams", n)
	}
}

func TestUpdate_BindsTheSecretToItsReceiver(t *testing.T) {
	t.Parallel()
	w := newStreamTest(t)
	stream := w.create(t, httpsStream("https://siem.example.com/in"))
	for name, c := range map[string]auditstreams.Change{
		"another host": {URL: new("https://evil.example.com/in")}, "another port": {URL: new("https://siem.example.com:8443/in")}, "another header": {Header: new("X-Echo")},
	} {
		if _, err := w.service.Update(t.Context(), w.admin, stream.ID, c); !fault.Is(err, fault.Invalid) || fault.As(err).Fields[0].Location != "secret" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.service.Update(t.Context(), w.admin, stream.ID, auditstreams.Change{URL: new("https://siem.example.com/other")}); err != nil {
		t.Errorf("another path: %v", err)
	}
	moved, err := w.service.Update(t.Context(), w.admin, stream.ID, auditstreams.Change{URL: new("https://new.example.com/in"), Value: new(secretText("Bearer new"))})
	if err != nil || !moved.HasSecret {
		t.Errorf("with the value: %+v, %v", moved, err)
	}
	none, err := w.service.Update(t.Context(), w.admin, stream.ID, auditstreams.Change{Value: new(secretText(""))})
	if err != nil || none.HasSecret {
		t.Errorf("without a value: %+v, %v", none, err)
	}
}

// The receiver does not get the entry about its own end: a notice reports it.
func TestEdit_NotifiesAboutReceivers(t *testing.T) {
	t.Parallel()
	w := newStreamTest(t)
	stream := w.create(t, httpsStream("https://siem.example.com/in"))
	for _, c := range []auditstreams.Change{
		{Name: new("Renamed")}, {URL: new("https://new.example.com/key"), Value: new(secretText("Bearer new"))}, {Enabled: new(false)}, {Enabled: new(true)},
	} {
		if _, err := w.service.Update(t.Context(), w.admin, stream.ID, c); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.service.Delete(t.Context(), w.admin, stream.ID); err != nil {
		t.Fatal(err)
	}
	notices, err := w.Door().People().Notices(t.Context(), nil, store.Page{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range notices.Items {
		if n.Kind != connectors.NoticeStreamChanged {
			t.Errorf("%+v", n)
		}
		got = append(got, n.Title+": "+n.Body)
	}
	want := []string{
		"Audit stream Renamed deleted: By Ann. Receiver: new.example.com.", "Audit stream Renamed turned off: By Ann. Receiver: new.example.com.",
		"Audit stream Renamed sends elsewhere: By Ann. Receiver: new.example.com, before: siem.example.com.", "Audit stream SIEM created: By Ann. Receiver: siem.example.com.",
	}
	if !slices.Equal(got, want) {
		t.Errorf("notices = %q", got)
	}
}

package auditstreams

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/safe"
	"patchbay/internal/safehttp"
)

const (
	// facilityAudit is "log audit" of RFC 5424 section 6.2.1.
	facilityAudit = 13
	// Severities of RFC 5424.
	syslogWarning = 4
	syslogInfo    = 6
	maxHostName   = 255
	// earlyCloseWait is how long a connection is watched after a batch, before it is closed for writing.
	earlyCloseWait = 100 * time.Millisecond
)

// errNotClosed means that the receiver did not answer the end of the batch.
var errNotClosed = errors.New("auditstreams: the receiver did not close the connection")

// sendSyslog sends a batch on a connection of its own.
func (s *Service) sendSyslog(ctx context.Context, stream connectors.AuditStream, b batch) attemptResult {
	address := strings.TrimPrefix(stream.URL, "tls://")
	if err := s.o.Egress.CheckTLS(address); err != nil {
		return attemptResult{sentence: egressSentence(err), refused: true}
	}
	var roots *x509.CertPool
	if stream.CA != "" {
		if roots = stream.RootCAs(); roots == nil {
			return attemptResult{sentence: "The stream's CA certificates can't be read. Enter them again.", refused: true}
		}
	}
	c, err := s.o.Egress.DialTLS(ctx, address, roots)
	if err != nil {
		_, blocked := errors.AsType[*safehttp.BlockedError](err)
		return attemptResult{sentence: safehttp.ExplainTLS(ctx, err, s.o.Timeout), refused: blocked}
	}
	r := startReader(c)
	defer r.closeAndWait()
	stop := context.AfterFunc(ctx, safe.Func(safe.Timer, func() { _ = c.SetDeadline(time.Unix(1, 0)) }))
	defer stop()
	err = s.writeFrames(c, b)
	if err == nil {
		err = r.waitForClose(ctx)
	}
	switch {
	case errors.Is(err, errNotClosed):
		return attemptResult{sentence: fmt.Sprintf("It didn't close the connection within %g seconds, which would confirm the events.", s.o.Timeout.Seconds())}
	case err != nil:
		return attemptResult{sentence: safehttp.ExplainTLS(ctx, err, s.o.Timeout)}
	}
	return attemptResult{}
}

// writeFrames writes one frame for each event (RFC 5425 section 4.3).
func (s *Service) writeFrames(w io.Writer, b batch) error {
	var frames []byte
	for i := range b.events {
		message := s.syslogMessage(&b.events[i], b.encoded[i])
		frames = append(append(strconv.AppendInt(frames, int64(len(message)), 10), ' '), message...)
	}
	_, err := w.Write(frames)
	return err
}

// syslogMessage returns an RFC 5424 message: header, no structured data, and the event as JSON in UTF-8 without a byte
// order mark.
func (s *Service) syslogMessage(e *event, encoded []byte) []byte {
	severity := syslogInfo
	if e.SeverityID > severityInformational {
		severity = syslogWarning
	}
	header := fmt.Sprintf("<%d>1 %s %s patchbay - %s - ", facilityAudit*8+severity, time.UnixMilli(e.Time).UTC().Format("2006-01-02T15:04:05.000Z"),
		syslogField(s.o.Host, maxHostName), syslogField(e.Metadata.LogName, 32))
	return append([]byte(header), encoded...)
}

// syslogField returns printable ASCII without spaces; "-" for nothing.
func syslogField(text string, maxLength int) string {
	text = strings.Map(func(c rune) rune {
		if c <= ' ' || c > '~' {
			return -1
		}
		return c
	}, text)
	if text == "" {
		return "-"
	}
	return text[:min(len(text), maxLength)]
}

// closeReader reads from a connection from its handshake on, to see when the receiver closes it.
type closeReader struct {
	c      *tls.Conn
	done   chan struct{} // closed when the receiver closed, or reading failed
	result error         // nil: the receiver closed; read after done
}

func startReader(c *tls.Conn) *closeReader {
	r := &closeReader{c: c, done: make(chan struct{}), result: io.ErrUnexpectedEOF}
	safe.Go(safe.Upstream, func() {
		defer close(r.done)
		_, r.result = io.Copy(io.Discard, c)
	})
	return r
}

// closeAndWait closes the connection and waits for the reader.
func (r *closeReader) closeAndWait() {
	_ = r.c.Close()
	<-r.done
}

// waitForClose closes the connection for writing and waits until the receiver closes it, which shows that it has read all.
// A receiver that closed before has not: a load balancer without a backend, for example.
func (r *closeReader) waitForClose(ctx context.Context) error {
	early := time.NewTimer(earlyCloseWait)
	defer early.Stop()
	select {
	case <-r.done:
		return cmp.Or(r.result, io.EOF)
	case <-early.C:
	}
	if err := r.c.CloseWrite(); err != nil {
		return err
	}
	select {
	case <-r.done:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return errNotClosed
	}
	return r.result
}

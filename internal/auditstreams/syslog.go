package auditstreams

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
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
	// closeWait is how long a receiver may take to close after a batch.
	closeWait = 2 * time.Second
)

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
		return attemptResult{sentence: safehttp.Explain(ctx, err, s.o.Timeout), refused: blocked}
	}
	defer func() { _ = c.Close() }()
	stop := context.AfterFunc(ctx, safe.Func(safe.Timer, func() { _ = c.SetDeadline(time.Unix(1, 0)) }))
	defer stop()
	if err := s.writeFrames(c, b); err != nil {
		return attemptResult{sentence: safehttp.Explain(ctx, err, s.o.Timeout)}
	}
	return waitForClose(ctx, c, s.o.Timeout)
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

// waitForClose closes the connection for writing and reads until the receiver closes, which shows that it has read all.
// A receiver that stays silent counts as having read; one that resets the connection does not.
func waitForClose(ctx context.Context, c *tls.Conn, timeout time.Duration) attemptResult {
	if err := c.CloseWrite(); err != nil {
		return attemptResult{sentence: safehttp.Explain(ctx, err, timeout)}
	}
	if ctx.Err() == nil {
		_ = c.SetReadDeadline(time.Now().Add(closeWait))
	}
	_, err := io.Copy(io.Discard, io.LimitReader(c, 64<<10))
	var silent net.Error
	if err == nil || ctx.Err() == nil && errors.As(err, &silent) && silent.Timeout() {
		return attemptResult{}
	}
	return attemptResult{sentence: safehttp.Explain(ctx, err, timeout)}
}

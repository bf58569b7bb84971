package httpclient_test

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// outcome is a response as a caller sees it.
type outcome struct {
	Status           string
	StatusCode       int
	Proto            string
	Header, Trailer  http.Header
	ContentLength    int64
	TransferEncoding []string
	Close            bool
	Uncompressed     bool
	Body             string
	Problem          string // the kind of error, from errorKind
}

func (o outcome) String() string {
	if o.StatusCode == 0 {
		return strings.TrimSuffix("error "+strings.TrimPrefix(o.Problem, "error"), " ")
	}
	return strings.TrimSuffix(fmt.Sprintf("%d %q %s", o.StatusCode, o.Body, o.Problem), " ")
}

// errorKind names the kinds of errors that a caller can distinguish.
func errorKind(err error) string {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	timeout, ok := errors.AsType[net.Error](err)
	switch {
	case err == nil:
		return ""
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "unexpected EOF"
	case errors.Is(err, io.EOF):
		return "EOF"
	case corrupt, errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		return "corrupt"
	case errors.Is(err, context.DeadlineExceeded), ok && timeout.Timeout():
		return "timeout"
	}
	return "error"
}

func roundTripOutcome(tr http.RoundTripper, r *http.Request) outcome {
	resp, err := tr.RoundTrip(r)
	if err != nil {
		return outcome{Problem: errorKind(err)}
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	return newOutcome(resp, string(body), err)
}

func newOutcome(resp *http.Response, body string, err error) outcome {
	return outcome{
		resp.Status, resp.StatusCode, resp.Proto, resp.Header, resp.Trailer, resp.ContentLength, resp.TransferEncoding, resp.Close, resp.Uncompressed,
		body, errorKind(err),
	}
}

// serve sends the response on one connection.
func (a rawResponse) serve(p *peer, conn *net.TCPConn) {
	in := bufio.NewReader(conn)
	for {
		if a.early {
			if _, err := in.Peek(1); err != nil {
				return
			}
		} else if !p.readRequest(in) {
			return
		}
		if _, err := io.WriteString(conn, a.bytes); err != nil {
			return
		}
		if a.early && !p.readRequest(in) || !a.open {
			return
		}
	}
}

// oneByOne is a connection that reads one byte at a time.
type oneByOne struct{ *net.TCPConn }

func (c oneByOne) Read(p []byte) (int, error) { return c.TCPConn.Read(p[:min(1, len(p))]) }

func dialOneByOne(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return oneByOne{conn.(*net.TCPConn)}, nil
}

// Each response is read twice by both clients, which shows whether the connection is kept, and once byte by
// byte.
func TestResponses_ReadAsByNetHTTP(t *testing.T) {
	t.Parallel()
	for _, a := range testResponses {
		for _, dial := range []string{"whole", "byte by byte"} {
			t.Run(a.name+"/"+dial, func(t *testing.T) {
				t.Parallel()
				if dial == "byte by byte" && len(a.bytes) > len(long) {
					return // short responses are split at every byte
				}
				ours, theirs := newTransport(t), netHTTP(t)
				if dial == "byte by byte" {
					ours.Dial, theirs.DialContext = dialOneByOne, dialOneByOne
				}
				seen := make(map[http.RoundTripper]int64)
				got := make(map[http.RoundTripper]outcome)
				for _, tr := range []http.RoundTripper{ours, theirs} {
					p := newPeer(t, a.serve)
					for range 2 {
						got[tr] = roundTripOutcome(tr, a.request(t, p.url))
						if got[tr].String() != a.want {
							t.Errorf("%T: %s, want %s", tr, got[tr], a.want)
						}
					}
					seen[tr] = p.connections.Load()
				}
				if diff := cmp.Diff(got[theirs], got[ours]); diff != "" {
					t.Errorf("net/http (-) and h1 (+):\n%s", diff)
				}
				if seen[theirs] != seen[ours] {
					t.Errorf("net/http connected %d times, h1 %d times", seen[theirs], seen[ours])
				}
			})
		}
	}
}

func (a rawResponse) request(t testing.TB, url string) *http.Request {
	t.Helper()
	if a.method == http.MethodPost {
		return newRequest(t, a.method, url, strings.NewReader(`{"jsonrpc":"2.0"}`))
	}
	return newRequest(t, a.method, url, nil)
}

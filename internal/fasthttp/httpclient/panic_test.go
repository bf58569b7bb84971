package httpclient_test

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"patchbay/internal/fasthttp/httpclient"
)

// panickingConn is a connection whose Read panics.
type panickingConn struct {
	net.Conn
	closed chan struct{}
}

func (c *panickingConn) Read([]byte) (int, error)    { panic("of a test") }
func (c *panickingConn) Write(p []byte) (int, error) { return len(p), nil }
func (c *panickingConn) SetDeadline(time.Time) error { return nil }
func (c *panickingConn) Close() error                { close(c.closed); return nil }

func TestExchange_PanicClosesItsConnection(t *testing.T) {
	t.Parallel()
	made := &panickingConn{closed: make(chan struct{})}
	tr := &httpclient.Transport{
		Dial:     func(context.Context, string, string) (net.Conn, error) { return made, nil },
		Fallback: netHTTP(t), MaxIdle: 1, MaxIdlePerHost: 1, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 10, ReadBuffer: 1 << 10,
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.com/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the exchange did not panic")
			}
		}()
		resp, err := tr.RoundTrip(r)
		if err == nil {
			_ = resp.Body.Close()
		}
	}()
	select {
	case <-made.closed:
	default:
		t.Error("the connection is open")
	}
}

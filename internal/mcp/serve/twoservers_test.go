package serve_test

import (
	"bytes"
	"context"
	enc "encoding/hex"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"patchbay/internal/mcp/serve"
)

// sharedRouter holds the mailboxes that two servers share, in memory.
type sharedRouter struct {
	mu    sync.Mutex // guards boxes
	boxes map[string][][]byte
}

// routerAt is one server's Router; it notifies the other server.
type routerAt struct {
	*sharedRouter
	tell func(box string)
}

func (c *routerAt) Post(_ context.Context, caller, box string, message []byte, _ time.Duration) error {
	c.mu.Lock()
	c.boxes[caller+" "+box] = append(c.boxes[caller+" "+box], bytes.Clone(message))
	c.mu.Unlock()
	c.tell(box)
	return nil
}

func (c *routerAt) Fetch(_ context.Context, caller, box string) ([][]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.boxes[caller+" "+box]), nil
}

func (c *routerAt) Take(_ context.Context, caller, box string) ([][]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.boxes[caller+" "+box]
	delete(c.boxes, caller+" "+box)
	return taken, nil
}

// newTwoServers returns two servers of one address with a common key and router.
func newTwoServers(t *testing.T, b serve.Backend, options ...func(*serve.Options)) (*testServer, *testServer) {
	t.Helper()
	common := &sharedRouter{boxes: map[string][][]byte{}}
	var places [2]*testServer
	for i := range places {
		places[i] = newTestServer(t, b, append([]func(*serve.Options){usePlainSessions, func(o *serve.Options) {
			o.Router = &routerAt{common, func(box string) { places[1-i].OnMailboxMessage(box) }}
		}}, options...)...)
	}
	return places[0], places[1]
}

// usePlainSessions makes session ids that every server can open.
func usePlainSessions(o *serve.Options) {
	o.SealSession = func(caller string, session []byte) (string, error) {
		return caller + "." + enc.EncodeToString(session), nil
	}
	o.OpenSession = func(caller, id string) ([]byte, error) {
		text, ok := strings.CutPrefix(id, caller+".")
		if !ok {
			return nil, errors.New("another caller's session")
		}
		return enc.DecodeString(text)
	}
}

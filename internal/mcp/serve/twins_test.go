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

// office is what two processes share: boxes in memory.
type office struct {
	mu    sync.Mutex // guards boxes
	boxes map[string][][]byte
}

// counter is one process's way to the office, and tells the other one.
type counter struct {
	*office
	tell func(box string)
}

func (c *counter) Post(_ context.Context, who, box string, message []byte, _ time.Duration) error {
	c.mu.Lock()
	c.boxes[who+" "+box] = append(c.boxes[who+" "+box], bytes.Clone(message))
	c.mu.Unlock()
	c.tell(box)
	return nil
}

func (c *counter) Fetch(_ context.Context, who, box string) ([][]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.boxes[who+" "+box]), nil
}

// twins are two processes that serve the same address, with a key and an office in common.
func twins(t *testing.T, b serve.Backend, options ...func(*serve.Options)) (*place, *place) {
	t.Helper()
	common := &office{boxes: map[string][][]byte{}}
	var places [2]*place
	for i := range places {
		places[i] = open(t, b, append([]func(*serve.Options){openKey, func(o *serve.Options) {
			o.Router = &counter{common, func(box string) { places[1-i].Arrived(box) }}
		}}, options...)...)
	}
	return places[0], places[1]
}

// openKey seals sessions with nothing, so that every process can open them.
func openKey(o *serve.Options) {
	o.SealSession = func(who string, session []byte) (string, error) { return who + "." + enc.EncodeToString(session), nil }
	o.OpenSession = func(who, id string) ([]byte, error) {
		text, ok := strings.CutPrefix(id, who+".")
		if !ok {
			return nil, errors.New("another caller's session")
		}
		return enc.DecodeString(text)
	}
}

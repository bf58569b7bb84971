package toolcall_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/toolcall"
)

// One long response stops half-way while another one arrives.
func TestCall_RefusesResponseBeyondMemoryLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *toolcall.Options) { o.Dialer.MemoryLimit = &mcp.MemoryLimit{MaxWait: time.Millisecond} })
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	release := make(chan struct{})
	b.remote.set(func(w http.ResponseWriter, _ *http.Request, m message) bool {
		if m.Method != "tools/call" {
			return false
		}
		text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"x":"%s"}}`, m.ID, strings.Repeat("x", 1<<20))
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		fmt.Fprint(w, text[:len(text)/2])
		_ = http.NewResponseController(w).Flush()
		<-release
		fmt.Fprint(w, text[len(text)/2:])
		return true
	})
	answers := make(chan callAnswer, 2)
	for range 2 {
		go func() {
			out, err := b.call(t, a, c, "")
			answers <- callAnswer{out, err}
		}()
	}
	refused := receive(t, answers)
	wantRefused(t, refused.err, toolcall.CodeUnavailable)
	if refused.out.Call.Outcome != connectors.OutcomeTransport {
		t.Errorf("call = %+v", refused.out.Call)
	}
	close(release)
	must(t, receive(t, answers).err)
}

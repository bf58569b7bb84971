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

// TestALongAnswerThatFindsNoRoomIsRefused has one long answer stand still half-way while another one comes.
func TestALongAnswerThatFindsNoRoomIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *toolcall.Options) { o.Dialer.Room = &mcp.Room{Patience: time.Millisecond} })
	c := b.connector(t, b.remote)
	a := b.trusted(t, c)
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
	came := make(chan answer, 2)
	for range 2 {
		go func() {
			out, err := b.call(t, a, c, "")
			came <- answer{out, err}
		}()
	}
	lost := <-came
	wantRefused(t, lost.err, toolcall.CodeUnavailable)
	if lost.out.Call.Outcome != connectors.OutcomeTransport {
		t.Errorf("call = %+v", lost.out.Call)
	}
	close(release)
	must(t, (<-came).err)
}

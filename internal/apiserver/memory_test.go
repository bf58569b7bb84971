package apiserver_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"patchbay/internal/mcp"
)

// Calls use memory again. None has a part of another one's answer, also beside calls that fail or are cancelled.
func TestCall_AnswersAreNotMixed(t *testing.T) {
	t.Parallel()
	session, bindings := openSession(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var arguments struct{ Text string }
		_ = json.Unmarshal(body, &arguments)
		n, _ := strconv.Atoi(arguments.Text)
		switch n % 7 {
		case 1:
			w.WriteHeader(http.StatusNotFound)
		case 2:
			<-r.Context().Done() // the caller cancels
			return
		case 3:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, strings.Repeat(arguments.Text+" ", 1+n*37%3000))
	})
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 40 {
				n := worker*1000 + i
				ctx, cancel := context.WithCancel(t.Context())
				if n%7 == 2 {
					timer := time.AfterFunc(time.Millisecond, cancel)
					defer timer.Stop()
				}
				got, err := session.Call(ctx, mcp.Call{Name: "addNote", Arguments: json.RawMessage(`{"text":"` + strconv.Itoa(n) + `"}`), Meta: bindings["addNote"]})
				cancel()
				switch {
				case n%7 == 2 || n%7 == 3:
					if err == nil {
						t.Errorf("call %d has an answer", n)
					}
				case err != nil:
					t.Errorf("call %d: %v", n, err)
				case !hasOnly(got.Content, n):
					t.Errorf("call %d has the answer %.200s", n, got.Content)
				}
			}
		})
	}
	all.Wait()
}

// hasOnly reports whether the text of a result is the answer to call n.
func hasOnly(content json.RawMessage, n int) bool {
	var blocks []struct{ Text string }
	if json.Unmarshal(content, &blocks) != nil || len(blocks) != 1 {
		return false
	}
	words := strings.Fields(strings.TrimPrefix(blocks[0].Text, "HTTP 404 Not Found.\n\n"))
	for _, word := range words {
		if word = strings.TrimSuffix(word, "…"); word != strconv.Itoa(n) && !(n%7 == 1 && strings.HasPrefix(strconv.Itoa(n), word)) {
			return false
		}
	}
	return n%7 == 1 || len(words) == 1+n*37%3000
}

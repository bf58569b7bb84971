package mcptest

import (
	"fmt"
	"io"
	"net/http"
)

// WithStream adds the stream of a GET, on which Report sends. It must be called before the first request.
func (s *TaskServer) WithStream() *TaskServer {
	s.stream = make(chan string)
	return s
}

// Report sends notifications/progress of a task's call, with these members of its params.
func (s *TaskServer) Report(id, params string) {
	s.mu.Lock()
	token := s.tasks[id].token
	s.mu.Unlock()
	s.stream <- Event(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,%s}}`, token, params))
}

func (s *TaskServer) streamNotes(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	flusher := http.NewResponseController(w)
	for {
		_ = flusher.Flush()
		select {
		case note := <-s.stream:
			_, _ = io.WriteString(w, note)
		case <-r.Context().Done():
			return
		}
	}
}

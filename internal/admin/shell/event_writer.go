package shell

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/a-h/templ"
)

// EventStreamType is the media type of server-sent events.
const EventStreamType = "text/event-stream"

const eventWriteTimeout = 10 * time.Second // per event; a browser that does not read is disconnected

// EventWriter writes a response of server-sent events.
type EventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// NewEventWriter sets the headers of the response.
func NewEventWriter(w http.ResponseWriter) *EventWriter {
	w.Header().Set("Content-Type", EventStreamType)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // disables buffering in nginx
	return &EventWriter{w: w, control: http.NewResponseController(w)}
}

// Close removes the last event's deadline, which a reused connection must not keep.
func (e *EventWriter) Close() { _ = e.control.SetWriteDeadline(time.Time{}) }

// Write writes an encoded event or comment, with a deadline.
func (e *EventWriter) Write(b []byte) (int, error) {
	// A ResponseWriter without deadlines, as in a test, has none to set.
	_ = e.control.SetWriteDeadline(time.Now().Add(eventWriteTimeout))
	n, err := e.w.Write(b)
	if err != nil {
		return n, fmt.Errorf("write event: %w", err)
	}
	if err := e.control.Flush(); err != nil {
		return n, fmt.Errorf("flush event: %w", err)
	}
	return n, nil
}

// EncodeComponent renders a component into one event.
func EncodeComponent(ctx context.Context, c templ.Component) ([]byte, error) {
	var body bytes.Buffer
	if err := c.Render(ctx, &body); err != nil {
		return nil, fmt.Errorf("render event: %w", err)
	}
	return EncodeEvent(body.Bytes()), nil
}

// EncodeEvent encodes data as one server-sent event, with a data field for each line.
func EncodeEvent(data []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(data) {
		out.WriteString("data: ")
		out.Write(bytes.TrimRight(line, "\r\n"))
		out.WriteByte('\n')
	}
	out.WriteByte('\n')
	return out.Bytes()
}

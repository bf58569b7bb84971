package serve

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"time"
)

// boxName is where messages of one kind go, for one caller's session and one thing in it.
func boxName(kind, who, session, thing string) string {
	var space [256]byte
	text := append(space[:0], kind...)
	for _, part := range [...]string{who, session, thing} {
		text = append(append(text, 0), part...)
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:18])
}

// The kinds of boxes.
const (
	boxAnswer = "answer" // what a client answered to a request of ours; the thing is our id
	boxCancel = "cancel" // the client does not want to know any more; the thing is its id
	boxEnded  = "ended"  // the client ended its session
	boxStream = "stream" // what a broken stream did not bring; the thing is the stream's id
)

// boxes are those that somebody in this process waits at.
type boxes struct {
	mu   sync.Mutex // guards hear
	hear map[string]*waiter
}

// waiter is called when something arrives: with the message, or with nil where that must be fetched. The call must not block.
type waiter struct{ arrived func(message []byte) }

// wait calls arrived for what is put into the box, until the returned waiter leaves it.
func (b *boxes) wait(box string, arrived func(message []byte)) *waiter {
	w := &waiter{arrived}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.hear == nil {
		b.hear = map[string]*waiter{}
	}
	b.hear[box] = w
	return w
}

// leave ends the wait, unless somebody else waits there by now.
func (b *boxes) leave(box string, w *waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.hear[box] == w {
		delete(b.hear, box)
	}
}

// tell calls who waits at the box; false: nobody does.
func (b *boxes) tell(box string, message []byte) bool {
	b.mu.Lock()
	w := b.hear[box]
	b.mu.Unlock()
	if w != nil {
		w.arrived(message)
	}
	return w != nil
}

// Arrived tells that another process has put something into a box. It does not block.
func (s *Server) Arrived(box string) {
	if !s.boxes.tell(box, nil) {
		s.ended.put(box, true) // it may be the end of a session that nobody has used here
	}
}

// mail puts a message where other processes find it.
func (s *Server) mail(who, box string, message []byte, stay time.Duration) {
	if s.opts.Router == nil {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), mailLimit)
	defer stop()
	if err := s.opts.Router.Post(ctx, who, box, message, stay); err != nil {
		s.opts.Log.ErrorContext(ctx, "message for another process lost", "reason", err)
	}
}

// fetch is what other processes have put into a box.
func (s *Server) fetch(ctx context.Context, who, box string) [][]byte {
	if s.opts.Router == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, mailLimit)
	defer stop()
	messages, err := s.opts.Router.Fetch(ctx, who, box)
	if err != nil && ctx.Err() == nil {
		s.opts.Log.ErrorContext(ctx, "messages of other processes not read", "reason", err)
	}
	return messages
}

const (
	mailLimit = 10 * time.Second // for the way to the box, or from it
	briefly   = time.Minute      // is how long those messages stay that are for somebody who waits
)

package serve

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// leaver is a client whose connection still takes what is written when it has gone.
type leaver struct {
	*httptest.ResponseRecorder
	gone bool
}

func (l *leaver) Gone() bool { return l.gone }

// wrapped is a writer around another one, as those that count.
type wrapped struct{ http.ResponseWriter }

func (w wrapped) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// post is what was put into boxes.
type post struct{ boxes chan []byte }

func (p *post) Post(_ context.Context, _, _ string, message []byte, _ time.Duration) error {
	p.boxes <- message
	return nil
}

func (*post) Fetch(context.Context, string, string) ([][]byte, error) { return nil, nil }

func TestALastEventIsNotLostToAClientThatHasJustGone(t *testing.T) {
	t.Parallel()
	sent := &post{make(chan []byte, 1)}
	s := New(Options{Router: sent})
	client := &leaver{ResponseRecorder: httptest.NewRecorder()}
	v := &visit{s: s, w: wrapped{client}, r: httptest.NewRequest(http.MethodPost, "/mcp", nil), who: "me"}
	tp := s.tapes.begin(v, &Peer{Session: "s", Version: "2025-06-18"}, openStream(v))
	if err := tp.keep([]byte("there\n\n"), lasting); err != nil || client.Body.String() != "there\n\n" {
		t.Errorf("%q was sent: %v", client.Body, err)
	}
	client.gone = true
	if err := tp.keep([]byte("last\n\n"), final); err != nil || client.Body.String() != "there\n\n" {
		t.Errorf("%q was sent: %v", client.Body, err)
	}
	if got := string(<-sent.boxes); got != "\x02last\n\n" {
		t.Errorf("the other processes are told %q", got)
	}
	tp.end()
}

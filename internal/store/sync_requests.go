package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
)

// storedRequest is the compact JSON form of a request: a run has a dozen.
type storedRequest struct {
	Phase    string `json:"p"`
	Method   string `json:"m,omitempty"`
	Call     string `json:"c,omitempty"`
	Page     int    `json:"n,omitempty"`
	Era      string `json:"e,omitempty"`
	AtUS     int64  `json:"a,omitempty"`
	TookUS   int64  `json:"t,omitempty"`
	Status   int    `json:"s,omitempty"`
	Sent     int64  `json:"o,omitempty"`
	Received int64  `json:"i,omitempty"`
	Reason   string `json:"r,omitempty"`
	RPCCode  int    `json:"j,omitempty"`
	Left     int    `json:"l,omitempty"` // only in the last one
}

// SaveRunRequests stores the requests of a run. It does nothing if the run has some, or is missing.
func (t Syncs) SaveRunRequests(ctx context.Context, run connectors.SyncRunID, r connectors.SyncRequests) error {
	if len(r.List) == 0 {
		return nil
	}
	return t.q.InsertRunRequests(ctx, encodeRequests(r), t.id, run)
}

// RunRequests reads the requests of a run. Scheduled runs without changes and old runs have none.
func (t Syncs) RunRequests(ctx context.Context, run connectors.SyncRunID) (connectors.SyncRequests, error) {
	raw, err := t.q.RunRequests(ctx, t.id, run.UUID)
	if errors.Is(err, pgx.ErrNoRows) {
		return connectors.SyncRequests{}, nil
	}
	if err != nil {
		return connectors.SyncRequests{}, err
	}
	return decodeRequests(raw)
}

func encodeRequests(r connectors.SyncRequests) []byte {
	stored := make([]storedRequest, len(r.List))
	for i, q := range r.List {
		stored[i] = storedRequest{
			Phase: q.Phase, Method: q.Method, Call: cleanText(q.Call), Page: q.Page, Era: q.Era, AtUS: q.At.Microseconds(), TookUS: q.Took.Microseconds(),
			Status: q.Status, Sent: q.Sent, Received: q.Received, Reason: q.Reason, RPCCode: q.RPCCode,
		}
	}
	if len(stored) > 0 {
		stored[len(stored)-1].Left = r.Left
	}
	raw, err := json.Marshal(stored)
	if err != nil {
		panic(err) // numbers and texts always marshal
	}
	return raw
}

func decodeRequests(raw []byte) (connectors.SyncRequests, error) {
	var stored []storedRequest
	if err := json.Unmarshal(raw, &stored); err != nil {
		return connectors.SyncRequests{}, fmt.Errorf("decode the requests of a run: %w", err)
	}
	r := connectors.SyncRequests{List: make([]connectors.SyncRequest, len(stored))}
	for i, s := range stored {
		r.List[i] = connectors.SyncRequest{
			Phase: s.Phase, Method: s.Method, Call: s.Call, Page: s.Page, Era: s.Era,
			At: time.Duration(s.AtUS) * time.Microsecond, Took: time.Duration(s.TookUS) * time.Microsecond,
			Status: s.Status, Sent: s.Sent, Received: s.Received, Reason: s.Reason, RPCCode: s.RPCCode,
		}
		r.Left += s.Left
	}
	return r, nil
}

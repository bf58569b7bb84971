package api

import (
	"time"

	"patchbay/internal/connectors"
)

// runRequestJSON is one request to the server with its response, without bodies.
type runRequestJSON struct {
	Phase    string  `json:"phase" doc:"discover, initialize, initialized, list, request, listen or close."`
	Method   string  `json:"method" doc:"Of HTTP: POST, GET or DELETE; empty: a message to a program."`
	Call     string  `json:"call" doc:"The MCP method; empty: none."`
	Page     *int    `json:"page" doc:"Of the tool list; null: none."`
	Era      string  `json:"era" doc:"In which the server was asked: modern, handshake or sse."`
	AtMS     float64 `json:"at_ms" doc:"Since the first request."`
	TookMS   float64 `json:"took_ms" doc:"Until the last byte of the answer that was read."`
	Status   *int    `json:"status" doc:"Of HTTP; null: there was no answer, or it is a program's."`
	Sent     int64   `json:"bytes_sent"`
	Received int64   `json:"bytes_received"`
	Reason   *string `json:"reason" doc:"Why it did not bring what it was for, as an error's code; null: it did."`
	RPCCode  *int    `json:"rpc_code" doc:"Of a JSON-RPC error; null: there was none."`
}

func (out syncRunJSON) withRequests(requests connectors.SyncRequests) syncRunJSON {
	out.Requests, out.RequestsLeft = make([]runRequestJSON, len(requests.List)), requests.Left
	for i, q := range requests.List {
		out.Requests[i] = runRequestJSON{
			Phase: q.Phase, Method: q.Method, Call: q.Call, Page: nilIfZero(q.Page), Era: q.Era, AtMS: toMilliseconds(q.At), TookMS: toMilliseconds(q.Took),
			Status: nilIfZero(q.Status), Sent: q.Sent, Received: q.Received, Reason: nilIfZero(q.Reason), RPCCode: nilIfZero(q.RPCCode),
		}
	}
	return out
}

func toMilliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// nilIfZero is v, or nil for the zero value.
func nilIfZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

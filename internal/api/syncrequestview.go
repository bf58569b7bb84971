package api

import (
	"time"

	"patchbay/internal/connectors"
)

// runRequestJSON is one request to the server with its response, without bodies.
type runRequestJSON struct {
	Phase    string  `json:"phase" doc:"discover, initialize, initialized, list, request, listen or close."`
	Method   string  `json:"method" doc:"HTTP method: POST, GET or DELETE. Empty for stdio messages."`
	Call     string  `json:"call" doc:"The MCP method. Empty if none."`
	Page     *int    `json:"page" doc:"Page of the tool list. Null if none."`
	Era      string  `json:"era" doc:"Protocol era: modern, handshake or sse."`
	AtMS     float64 `json:"at_ms" doc:"Time since the first request."`
	TookMS   float64 `json:"took_ms" doc:"Time to the last byte read of the response."`
	Status   *int    `json:"status" doc:"HTTP status. Null without a response, and for stdio."`
	Sent     int64   `json:"bytes_sent"`
	Received int64   `json:"bytes_received"`
	Reason   *string `json:"reason" doc:"Error code if the request failed. Null if it succeeded."`
	RPCCode  *int    `json:"rpc_code" doc:"JSON-RPC error code. Null if none."`
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

package templates

// RunPage shows one sync run, request by request.
type RunPage struct {
	Frame    Frame
	Head     ConnectorHead
	Title    string // "Sync of 21 Nov 2026, 10:12"
	State    State
	Cancel   string     // where the queued run is cancelled, a running one at Head; empty: nowhere
	Error    *Attention // why it failed; nil: it did not
	Said     Quote
	Facts    []Fact
	ViewBox  string // of every bar of the waterfall
	Requests []RequestRow
	Left     string // "12 more requests, between the first and the last"; empty: none
	None     string // why there are no requests
	Total    string // "5 requests · 820 ms · 12 KiB"
}

// RequestRow is one request of a sync.
type RequestRow struct {
	Name     string // "List, page 2"
	Call     string // "POST tools/list"
	Era      string
	Status   State
	Started  string // "+120 ms"
	Took     string
	Sent     string
	Received string
	Bars     []Bar // the track, and on it the time of the request
}

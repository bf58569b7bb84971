package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// MaxCountedCalls bounds the calls that are read for a chart.
const MaxCountedCalls = 10_000

// CallPart counts the calls that began in one part of a range.
type CallPart struct{ OK, Failed, Other int }

// CallParts are the calls of a range in equal parts.
type CallParts struct {
	Parts []CallPart
	Total int
	Cut   bool // only the newest MaxCountedCalls calls were read
	Exact bool // Total is the number of calls that match
}

// CallParts counts the calls of a filter's range in n equal parts. A range of whole hours without another filter is read
// from hourly totals, whatever its number of calls: there a call is counted when it ended.
func (t Lists) CallParts(ctx context.Context, f CallFilter, n int) (CallParts, error) {
	length := f.To.Sub(f.From) / time.Duration(n)
	if f.Agent == nil && f.Connector == nil && f.Status == "" && f.Tool == "" && length%time.Hour == 0 && f.From.Truncate(time.Hour).Equal(f.From) {
		return t.hourParts(ctx, f, n, length)
	}
	from, to := f.idRange()
	p := dbgen.CallPartsParams{
		TenantID: t.id, Since: f.From, PartS: length.Seconds(), Status: string(f.Status), Tool: cleanText(f.Tool), FromID: *from, ToID: *to, MaxCalls: MaxCountedCalls,
	}
	if f.Agent != nil {
		p.AgentID = &f.Agent.UUID
	}
	if f.Connector != nil {
		p.ConnectorID = &f.Connector.UUID
	}
	rows, err := t.q.CallParts(ctx, p)
	counted, scanned := CallParts{Parts: make([]CallPart, n)}, 0
	for _, r := range rows {
		scanned += int(r.Scanned)
		part, calls := &counted.Parts[min(int(r.Part), n-1)], int(r.Calls)
		switch r.Status {
		case connectors.CallSuccess:
			part.OK += calls
		case connectors.CallError:
			part.Failed += calls
		default:
			part.Other += calls
		}
		counted.Total += calls
	}
	counted.Cut = scanned == MaxCountedCalls
	counted.Exact = !counted.Cut
	return counted, err
}

func (t Lists) hourParts(ctx context.Context, f CallFilter, n int, length time.Duration) (CallParts, error) {
	rows, err := t.q.CallHours(ctx, t.id, f.From)
	counted := CallParts{Parts: make([]CallPart, n)}
	for _, r := range rows {
		at := int(r.Hour.Sub(f.From) / length)
		if at < 0 || at >= n {
			continue
		}
		part := &counted.Parts[at]
		part.OK, part.Failed, part.Other = part.OK+int(r.Ok), part.Failed+int(r.Failed), part.Other+int(r.Other)
		counted.Total += int(r.Ok + r.Failed + r.Other)
	}
	return counted, err
}

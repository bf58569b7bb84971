package connectors

import "time"

// CallHour counts a tenant's calls that ended in one hour.
type CallHour struct {
	Hour      time.Time // start of the hour
	OK        int
	Failed    int       // with status error
	Other     int       // denied by a person, or cancelled
	Latencies Latencies // of calls that a server answered, without approvals
}

// Calls returns the number of calls.
func (h CallHour) Calls() int { return h.OK + h.Failed + h.Other }

// SyncHour counts a tenant's syncs in one hour.
type SyncHour struct {
	Hour       time.Time
	OK, Failed int
	Tools      int // at its end; -1: unknown
}

// Figures are the data of a tenant's home page.
type Figures struct {
	Calls      []CallHour // oldest first; empty hours are omitted
	Syncs      []SyncHour // as Calls
	Tools      int        // current
	Connectors map[ConnectorStatus]int
	Since      *time.Time // start of counting; nil: the beginning
}

// UsageMark is the start of a tenant's displayed counts.
type UsageMark struct {
	Since time.Time
	Calls CallHour // of its hour before the mark
	Syncs SyncHour // of its hour before the mark
}

// From returns the figures counted from a mark. The number of tools is no count and stays.
func (f Figures) From(m UsageMark) Figures {
	f.Since = &m.Since
	calls, syncs := []CallHour{}, []SyncHour{}
	for _, h := range f.Calls {
		if h.Hour.Equal(m.Calls.Hour) {
			h.OK, h.Failed, h.Other = max(0, h.OK-m.Calls.OK), max(0, h.Failed-m.Calls.Failed), max(0, h.Other-m.Calls.Other)
			for i := range h.Latencies {
				h.Latencies[i] = max(0, h.Latencies[i]-m.Calls.Latencies[i])
			}
		}
		if !h.Hour.Before(m.Calls.Hour) {
			calls = append(calls, h)
		}
	}
	for _, h := range f.Syncs {
		switch {
		case h.Hour.Before(m.Syncs.Hour):
			h.OK, h.Failed = 0, 0
		case h.Hour.Equal(m.Syncs.Hour):
			h.OK, h.Failed = max(0, h.OK-m.Syncs.OK), max(0, h.Failed-m.Syncs.Failed)
		}
		syncs = append(syncs, h)
	}
	f.Calls, f.Syncs = calls, syncs
	return f
}

// Period is the sum of consecutive hours.
type Period struct {
	From  time.Time
	Calls CallHour // Hour is From
	Syncs SyncHour // Hour is From
	Tools int      // at its end; -1: unknown
}

// ErrorRate returns the share of failed calls, 0 to 1; 0 without calls.
func (p Period) ErrorRate() float64 {
	return float64(p.Calls.Failed) / float64(max(p.Calls.Calls(), 1))
}

// P95 returns the latency that 95 of 100 calls did not exceed; 0 without calls.
func (p Period) P95() time.Duration { return p.Calls.Latencies.Quantile(0.95) }

// Periods sums hours to n periods of each hours, empty ones included; the last ends with the hour of now.
func (f *Figures) Periods(now time.Time, each, n int) []Period {
	length := time.Duration(each) * time.Hour
	from := now.UTC().Truncate(time.Hour).Add(time.Hour - time.Duration(n)*length)
	list := make([]Period, n)
	for i := range list {
		at := from.Add(time.Duration(i) * length)
		list[i] = Period{From: at, Calls: CallHour{Hour: at}, Syncs: SyncHour{Hour: at}}
	}
	in := func(hour time.Time) *Period {
		i := int(hour.Sub(from) / length)
		if hour.Before(from) || i >= n {
			return nil
		}
		return &list[i]
	}
	for i := range f.Calls {
		if p := in(f.Calls[i].Hour); p != nil {
			p.Calls.addHour(&f.Calls[i])
		}
	}
	for _, h := range f.Syncs {
		if p := in(h.Hour); p != nil {
			p.Syncs.OK, p.Syncs.Failed = p.Syncs.OK+h.OK, p.Syncs.Failed+h.Failed
		}
	}
	f.fillTools(list, now, length)
	return list
}

func (h *CallHour) addHour(other *CallHour) {
	h.OK, h.Failed, h.Other = h.OK+other.OK, h.Failed+other.Failed, h.Other+other.Other
	h.Latencies.Add(&other.Latencies)
}

// fillTools carries known numbers of tools into hours without one.
func (f *Figures) fillTools(list []Period, now time.Time, length time.Duration) {
	tools, next := -1, 0
	for i := range list {
		end := list[i].From.Add(length)
		for ; next < len(f.Syncs) && f.Syncs[next].Hour.Before(end); next++ {
			if noted := f.Syncs[next].Tools; noted >= 0 {
				tools = noted
			}
		}
		if end.After(now) {
			tools = f.Tools
		}
		list[i].Tools = tools
	}
}

// TotalPeriod sums consecutive periods.
func TotalPeriod(periods []Period) Period {
	var whole Period
	for i := range periods {
		p := &periods[i]
		if i == 0 {
			whole.From = p.From
		}
		whole.Calls.addHour(&p.Calls)
		whole.Syncs.OK, whole.Syncs.Failed = whole.Syncs.OK+p.Syncs.OK, whole.Syncs.Failed+p.Syncs.Failed
		whole.Tools = p.Tools
	}
	whole.Calls.Hour, whole.Syncs.Hour = whole.From, whole.From
	return whole
}

package connectors

import "time"

// Stretch is what a connector's syncs of some hours on end tell of its server, as [HealthHour] is.
type Stretch struct {
	From       time.Time
	OK, Failed int
	Uptime     float64 // see [Uptime]; 0 without a sync
	Mean, Max  time.Duration
}

// Syncs is how many there were.
func (s Stretch) Syncs() int { return s.OK + s.Failed }

// Uptime is the share of syncs that the server answered, from 0 to 1, each hour with any of them weighing the same: a server that is down is
// asked less often, or more, than one that is up. false: there was no sync.
func Uptime(hours []HealthHour) (float64, bool) {
	share, known := 0.0, 0
	for _, h := range hours {
		if syncs := h.OK + h.Failed; syncs > 0 {
			share += float64(h.OK) / float64(syncs)
			known++
		}
	}
	return share / float64(max(known, 1)), known > 0
}

// Stretches puts hours together, so that n stretches of the given hours end with the hour of now; also those without a sync.
func Stretches(hours []HealthHour, now time.Time, each, n int) []Stretch {
	length := time.Duration(each) * time.Hour
	from := now.UTC().Truncate(time.Hour).Add(time.Hour - time.Duration(n)*length)
	within := make([][]HealthHour, n)
	for _, h := range hours {
		if i := int(h.Hour.Sub(from) / length); !h.Hour.Before(from) && i < n {
			within[i] = append(within[i], h)
		}
	}
	list := make([]Stretch, n)
	for i := range list {
		list[i] = stretch(from.Add(time.Duration(i)*length), within[i])
	}
	return list
}

// WholeStretch is what came of all syncs of the hours.
func WholeStretch(hours []HealthHour) Stretch { return stretch(time.Time{}, hours) }

func stretch(from time.Time, hours []HealthHour) Stretch {
	s := Stretch{From: from}
	var sum time.Duration
	for _, h := range hours {
		s.OK += h.OK
		s.Failed += h.Failed
		s.Max = max(s.Max, h.Max)
		sum += h.Mean * time.Duration(h.OK+h.Failed)
	}
	s.Uptime, _ = Uptime(hours)
	s.Mean = sum / time.Duration(max(s.Syncs(), 1))
	return s
}

package connectors

import "time"

// UptimePeriod sums consecutive [HealthHour] values.
type UptimePeriod struct {
	From       time.Time
	OK, Failed int
	Uptime     float64 // see [Uptime]; 0 without a sync
	Mean, Max  time.Duration
}

// Syncs returns the number of syncs.
func (s UptimePeriod) Syncs() int { return s.OK + s.Failed }

// Uptime returns the share of answered syncs, 0 to 1, with equal weight for each hour with a sync: the rate of
// attempts depends on the state. false: no sync.
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

// UptimePeriods sums hours to n periods of each hours, empty ones included; the last ends with the hour of now.
func UptimePeriods(hours []HealthHour, now time.Time, each, n int) []UptimePeriod {
	length := time.Duration(each) * time.Hour
	from := now.UTC().Truncate(time.Hour).Add(time.Hour - time.Duration(n)*length)
	within := make([][]HealthHour, n)
	for _, h := range hours {
		if i := int(h.Hour.Sub(from) / length); !h.Hour.Before(from) && i < n {
			within[i] = append(within[i], h)
		}
	}
	list := make([]UptimePeriod, n)
	for i := range list {
		list[i] = newUptimePeriod(from.Add(time.Duration(i)*length), within[i])
	}
	return list
}

// TotalUptime sums all hours.
func TotalUptime(hours []HealthHour) UptimePeriod { return newUptimePeriod(time.Time{}, hours) }

func newUptimePeriod(from time.Time, hours []HealthHour) UptimePeriod {
	s := UptimePeriod{From: from}
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

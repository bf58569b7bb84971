package shell

import (
	"time"

	"patchbay/internal/i18n"
)

// Times of charts.
const (
	day  = 24 * time.Hour
	Week = 7 * day
)

// TimeRange is a range of time up to now, in equal parts.
type TimeRange struct {
	Key                 string   // "24h"
	Title               i18n.Key // "Last 24 hours"
	InSentence          i18n.Key // "last 24 hours"
	HoursPerPart, Parts int
}

// TimeRanges are the ranges of charts, the default first.
var TimeRanges = []TimeRange{
	{Key: "24h", Title: "Last 24 hours", InSentence: "last 24 hours", HoursPerPart: 1, Parts: 24},
	{Key: "7d", Title: "Last 7 days", InSentence: "last 7 days", HoursPerPart: 6, Parts: 28},
}

// FindTimeRange returns the range with that key, or the first.
func FindTimeRange(key string) TimeRange {
	for _, s := range TimeRanges {
		if s.Key == key {
			return s
		}
	}
	return TimeRanges[0]
}

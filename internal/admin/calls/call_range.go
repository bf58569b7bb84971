package calls

import (
	"context"
	"time"

	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// Keys of the range parameter. Without one, defaultRange applies.
const (
	customRange  = "custom"
	defaultRange = "7d"
)

// namedRanges are the ranges up to now, each in equal parts.
var namedRanges = []struct {
	key   string
	title i18n.Key
	part  time.Duration
	parts int
}{
	{"1h", "Last hour", 2 * time.Minute, 30},
	{"24h", "Last 24 hours", time.Hour, 24},
	{defaultRange, "Last 7 days", 6 * time.Hour, 28},
	{"30d", "Last 30 days", 24 * time.Hour, 30},
}

// customParts is the number of parts of a range that a person chose.
const customParts = 30

// timeSpan is a range of time in equal parts.
type timeSpan struct {
	from, to time.Time
	parts    int
}

// partLength is the length of one part.
func (s timeSpan) partLength() time.Duration { return s.to.Sub(s.from) / time.Duration(s.parts) }

// RangeOptions are the ranges of the filter.
func RangeOptions(ctx context.Context) []templates.Option {
	var options []templates.Option
	for _, r := range namedRanges {
		options = append(options, templates.Option{Value: r.key, Label: i18n.T(ctx, r.title)})
	}
	return append(options, templates.Option{Value: customRange, Label: i18n.T(ctx, "Custom range")})
}

// timeSpan is the query's range. It fails for a custom one that is no range; the default one then applies.
func (q CallQuery) timeSpan(now time.Time) (timeSpan, error) {
	if q.rangeKey == customRange {
		from, to, err := parseCustomRange(q.from, q.to, now)
		if err != nil {
			return CallQuery{}.defaultSpan(now), err
		}
		return timeSpan{from, to, customParts}, nil
	}
	for _, r := range namedRanges {
		if r.key == q.rangeKey {
			return spanUntil(now, r.part, r.parts), nil
		}
	}
	return CallQuery{}.defaultSpan(now), nil
}

// defaultSpan is the default range.
func (CallQuery) defaultSpan(now time.Time) timeSpan {
	for _, r := range namedRanges {
		if r.key == defaultRange {
			return spanUntil(now, r.part, r.parts)
		}
	}
	panic("calls: no default range") // it is in the table
}

// spanUntil ends with the part that is not over yet: an hour where parts are hours or more.
func spanUntil(now time.Time, part time.Duration, parts int) timeSpan {
	unit := min(part, time.Hour)
	to := now.UTC().Truncate(unit).Add(unit)
	return timeSpan{to.Add(-part * time.Duration(parts)), to, parts}
}

// inputTime is the format of an input of type datetime-local; seconds are optional.
const inputTime = "2006-01-02T15:04"

// parseCustomRange reads times in UTC. Without an end the range ends now, without a beginning it has a day.
func parseCustomRange(fromText, toText string, now time.Time) (from, to time.Time, err error) {
	if to, err = parseInputTime(toText, now.UTC()); err != nil {
		return from, to, err
	}
	if from, err = parseInputTime(fromText, to.Add(-24*time.Hour)); err != nil {
		return from, to, err
	}
	if !from.Before(to) {
		return from, to, fault.Errorf(fault.Invalid, "The range must end after it begins.")
	}
	return from, to, nil
}

func parseInputTime(text string, otherwise time.Time) (time.Time, error) {
	if text == "" {
		return otherwise, nil
	}
	for _, format := range []string{inputTime, inputTime + ":05"} {
		if t, err := time.Parse(format, text); err == nil && t.Year() >= 2000 && t.Year() < 2200 {
			return t, nil
		}
	}
	return time.Time{}, fault.Errorf(fault.Invalid, "Enter times as 2026-11-21T10:30, in UTC.")
}

package shell

import (
	"context"
	"slices"
	"strconv"
	"time"

	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// customDuration is the choice of a duration that the list does not have.
const customDuration = "custom"

// durationUnits are the units of a duration that is not in a list, as counts of its field's unit.
func durationUnits(ctx context.Context, unit time.Duration) []templates.Option {
	var options []templates.Option
	for _, o := range []struct {
		unit time.Duration
		name string
	}{
		{time.Millisecond, i18n.T(ctx, "milliseconds")},
		{time.Second, i18n.T(ctx, "seconds")},
		{time.Minute, i18n.T(ctx, "minutes")},
		{time.Hour, i18n.T(ctx, "hours")},
		{24 * time.Hour, i18n.T(ctx, "days")},
	} {
		if o.unit >= unit {
			options = append(options, templates.Option{Value: strconv.FormatInt(int64(o.unit/unit), 10), Label: o.name})
		}
	}
	return options
}

// NewDurationChoice offers durations, with the present one and a custom one. The field holds a number of units. 0 is
// offered as never if the list has it.
func NewDurationChoice(ctx context.Context, present string, unit time.Duration, list ...time.Duration) templates.DurationChoice {
	never := slices.Contains(list, 0)
	if n, err := strconv.Atoi(present); err == nil && n >= 0 && !slices.Contains(list, time.Duration(n)*unit) {
		list = append(slices.Clone(list), time.Duration(n)*unit)
		slices.Sort(list)
	}
	c := templates.DurationChoice{Units: durationUnits(ctx, unit)}
	for _, d := range list {
		label := FormatSpan(ctx, d)
		if d == 0 && never {
			label = i18n.T(ctx, "Never")
		}
		c.Options = append(c.Options, templates.Option{Value: strconv.FormatInt(int64(d/unit), 10), Label: label})
	}
	c.Options = append(c.Options, templates.Option{Value: customDuration, Label: i18n.T(ctx, "Custom…")})
	return c
}

// FormatSpan formats a whole number of the largest unit that fits: "15 minutes".
func FormatSpan(ctx context.Context, d time.Duration) string {
	switch {
	case d%time.Second != 0:
		return i18n.T(ctx, "%d ms", d.Milliseconds())
	case d%time.Minute != 0 || d == 0:
		return i18n.N(ctx, int(d.Seconds()), "%s second", "%s seconds")
	case d%time.Hour != 0:
		return i18n.N(ctx, int(d.Minutes()), "%s minute", "%s minutes")
	case d%(24*time.Hour) != 0:
		return i18n.N(ctx, int(d.Hours()), "%s hour", "%s hours")
	default:
		return i18n.N(ctx, int(d.Hours())/24, "%s day", "%s days")
	}
}

// ReadDurations replaces the custom durations of a form's fields by their number of the field's unit.
func (f PostedForm) ReadDurations(names ...string) error {
	var wrong []fault.Field
	for _, name := range names {
		if f.Text(name) != customDuration {
			continue
		}
		number, err := strconv.Atoi(f.Text(name + "_number"))
		unit, unitErr := strconv.Atoi(f.Text(name + "_unit"))
		if err != nil || unitErr != nil || number < 0 || number > 1_000_000 || unit < 1 || unit > maxUnits {
			wrong = append(wrong, fault.Field{Location: name, Message: "Enter a whole number."})
			continue
		}
		f.Values.Set(name, strconv.Itoa(number*unit))
	}
	return fault.InvalidFields(wrong...)
}

// maxUnits is a day in milliseconds.
const maxUnits = 24 * 60 * 60 * 1000

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

// DurationUnits are the units of a duration that is not in a list.
func DurationUnits(ctx context.Context) []templates.Option {
	return []templates.Option{
		{Value: "1", Label: i18n.T(ctx, "seconds")}, {Value: "60", Label: i18n.T(ctx, "minutes")},
		{Value: "3600", Label: i18n.T(ctx, "hours")}, {Value: "86400", Label: i18n.T(ctx, "days")},
	}
}

// DurationOptions offers durations, in seconds, with the present one and a custom one. 0 is offered as never.
func DurationOptions(ctx context.Context, present string, seconds ...int) []templates.Option {
	if n, err := strconv.Atoi(present); err == nil && n > 0 && !slices.Contains(seconds, n) {
		seconds = append(slices.Clone(seconds), n)
		slices.Sort(seconds)
	}
	var options []templates.Option
	for _, n := range seconds {
		options = append(options, templates.Option{Value: strconv.Itoa(n), Label: FormatSpan(ctx, time.Duration(n)*time.Second)})
	}
	return append(options, templates.Option{Value: customDuration, Label: i18n.T(ctx, "Custom…")})
}

// FormatSpan formats a whole number of the largest unit that fits: "15 minutes"; 0: "Never".
func FormatSpan(ctx context.Context, d time.Duration) string {
	switch {
	case d <= 0:
		return i18n.T(ctx, "Never")
	case d%(24*time.Hour) == 0:
		return i18n.N(ctx, int(d.Hours())/24, "%s day", "%s days")
	case d%time.Hour == 0:
		return i18n.N(ctx, int(d.Hours()), "%s hour", "%s hours")
	case d%time.Minute == 0:
		return i18n.N(ctx, int(d.Minutes()), "%s minute", "%s minutes")
	default:
		return i18n.N(ctx, int(d.Seconds()), "%s second", "%s seconds")
	}
}

// ReadDurations replaces the custom durations of a form's fields by their seconds.
func (f PostedForm) ReadDurations(names ...string) error {
	var wrong []fault.Field
	for _, name := range names {
		if f.Text(name) != customDuration {
			continue
		}
		number, err := strconv.Atoi(f.Text(name + "_number"))
		unit, unitErr := strconv.Atoi(f.Text(name + "_unit"))
		if err != nil || unitErr != nil || number < 0 || number > 1_000_000 {
			wrong = append(wrong, fault.Field{Location: name, Message: "Enter a whole number."})
			continue
		}
		f.Values.Set(name, strconv.Itoa(number*unit))
	}
	return fault.InvalidFields(wrong...)
}

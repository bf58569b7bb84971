package i18n_test

import (
	"context"
	"testing"

	"patchbay/internal/i18n"
)

func TestDecimals_HaveTheMarkOfTheLanguage(t *testing.T) {
	t.Parallel()
	english, german := context.Background(), i18n.With(context.Background(), i18n.German)
	for want, got := range map[string]string{
		"12.2 s": i18n.T(english, "%.1f s", 12.24), "12,2 s": i18n.T(german, "%.1f s", 12.24),
		"10.53": i18n.Decimal(english, 10.53), "10,53": i18n.Decimal(german, 10.53), "100": i18n.Decimal(german, 100),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

package templates

import (
	"context"

	"patchbay/internal/words"
)

// QuotaBar is how much of a quota is used, as a number and as a bar beside it.
type QuotaBar struct {
	Of         string // whose it is; empty where that is plain
	Href       string // to whose it is; empty: nowhere
	Said       string // "512 of 1,000 calls today"
	Value, Max string // of the bar; Max empty: there is none
	High       string // from where on it is nearly used up
	Over       string // "3 calls refused today"; empty: none
}

// TenantQuota is how many tools the organisation may call.
type TenantQuota struct {
	MostPerMinute string // what the operator allows, in words; empty: there is no bound
	MostPerDay    string // likewise
	Bars          []QuotaBar
}

// mostHelp explains a field, with what the operator allows.
func mostHelp(ctx context.Context, most string) string {
	if most == "" {
		return words.T(ctx, "0 is no limit.")
	}
	return words.T(ctx, "Whoever runs this installation allows %s; 0 is as many.", most)
}

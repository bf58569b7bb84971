package templates

import (
	"context"

	"patchbay/internal/i18n"
)

// QuotaBar is the use of a quota, as text and as a bar.
type QuotaBar struct {
	Of         string // the agent or tool; empty if it is clear
	Href       string // of the agent or tool; empty: none
	Said       string // "512 of 1,000 calls today"
	Value, Max string // of the bar; empty Max: no bar
	High       string // the value from which the bar warns
	Over       string // "3 calls refused today"; empty: none
}

// TenantQuota is the organisation's quota.
type TenantQuota struct {
	MaxPerMinute string // the operator's maximum, in words; empty: no bound
	MaxPerDay    string // likewise
	Bars         []QuotaBar
}

// limitHelp is a field's help, with the operator's maximum.
func limitHelp(ctx context.Context, limit string) string {
	if limit == "" {
		return i18n.T(ctx, "0 means no limit.")
	}
	return i18n.T(ctx, "0 for the operator's maximum, %s.", limit)
}

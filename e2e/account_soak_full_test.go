//go:build e2e && soak

package e2e_test

// Size of TestAccounts_NoCallUsesAnother in make soak.
const (
	soakCalls     = 100_000
	soakKills     = 15
	soakOAuthEach = 1 // one of so many agents has OAuth accounts of its own
)

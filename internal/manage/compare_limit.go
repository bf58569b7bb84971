package manage

import (
	"math"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/limit"
)

// Comparisons could be used to guess a chosen secret. Wrong guesses per credential and process are limited to
// maxWrongGuesses at once, then one per interval. Correct ones are free.
const (
	maxWrongGuesses    = 60
	wrongGuessInterval = 15 * time.Second
)

type credentialKey struct {
	connector connectors.ConnectorID
	agent     connectors.AgentID // zero: the shared credential
}

func newCompareLimit() *limit.Rate[credentialKey] {
	return limit.NewRate[credentialKey](1/wrongGuessInterval.Seconds(), maxWrongGuesses)
}

// checkCompareLimit fails after too many wrong guesses.
func (r *Registry) checkCompareLimit(p credentialKey) error {
	wait := r.compareLimit.Wait(p, time.Now())
	if wait == 0 {
		return nil
	}
	err := fault.Errorf(fault.RateLimited, "Too many comparisons with this secret. Wait for Retry-After.")
	err.RetryAfter = int(math.Ceil(wait.Seconds()))
	return err
}

//go:build race

package toolchange_test

// underRace: sync.Pool drops items at random, so that allocations are not those of the program.
const underRace = true

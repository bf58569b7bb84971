//go:build !race

package toolchange_test

const underRace = false

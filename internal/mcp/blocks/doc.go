// Package blocks passes over bytes that mean nothing, 64 at a time, where the processor can. A long result is a few long texts: to
// look at each byte by itself was a twelfth of what its way through the program cost.
//
// Elsewhere it passes over none, and who asks looks at them as it does at the last ones.
package blocks

// Package handover hands an agent's credentials out, opened, to a program that goes to the servers itself and not through the
// gateway.
//
//  1. the role: an admin's
//  2. the enabled connectors that the agent was granted; which of their tools it was, the servers do not ask
//  3. each one's credential is read, and refreshed where that is due: eight at once, and within twenty seconds in all
//  4. one audit event tells whose credentials went out; without it nothing goes out
//
// What cannot be had is told beside what can: one dead credential does not keep the others back. It is the only way on which a
// stored secret leaves the program towards a caller.
package handover

// Package credentialexport returns an agent's decrypted credentials to a program that calls the servers directly,
// without the gateway.
//
// The steps of [Desk.Open]:
//
//  1. require an admin
//  2. list the enabled connectors granted to the agent (servers do not distinguish granted tools)
//  3. read each credential and refresh it if due: eight at once, within twenty seconds in all
//  4. audit the connectors in one event; without it nothing is returned
//
// A credential that cannot be read has a fault beside the others. This is the only way in which a stored secret
// leaves Patchbay towards a caller.
package credentialexport

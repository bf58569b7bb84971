// Package connectors is the domain model: types, states and validation, without I/O, clock or randomness.
//
//	Tenant ─┬─ Connector ─┬─ Tool          an upstream tool: its definition, byte for byte, and its dates
//	        │             ├─ Credential    an authentication, shared or per agent, without its secret
//	        │             └─ SyncRun       one attempt to read the tool list
//	        ├─ Agent                       a program that uses tools
//	        ├─ Member                      a person with a role in this tenant
//	        └─ APIKey                      a program with a role in this tenant
//
// It validates input ([Draft.Validate]), compares tool lists ([Diff]) and names tools for agents
// ([ExposedNames]). Anything that needs a context.Context belongs elsewhere.
package connectors

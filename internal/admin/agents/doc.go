// Package agents serves the pages of agents: settings, tokens, grants, the tools that an agent sees and why, and
// grants that it does not use.
package agents

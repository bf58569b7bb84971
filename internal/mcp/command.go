package mcp

// Command is a child process that speaks MCP on its standard input and output.
type Command struct {
	Path   string // absolute
	Args   []string
	Env    []string // the whole environment, as NAME=value
	Dir    string   // where it runs
	Limits Limits
}

// Limits bound what a child process may use; 0: as the operating system has it.
type Limits struct {
	Memory    uint64 // bytes of address space
	OpenFiles uint64
	Processes uint64
}

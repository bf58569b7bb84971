package mcp

// Command is a child process that speaks MCP on its standard input and output.
type Command struct {
	Path   string // absolute
	Args   []string
	Env    []string // the whole environment, as NAME=value
	Dir    string   // where it runs
	Limits Limits
	// Diagnose, where set, gets the last that the process wrote to its standard error, once it has ended: remote text, which may
	// hold what its environment held.
	Diagnose func(text []byte)
}

// Limits bound what a child process, and each of its children, may use (Linux); 0: as the operating system has it. No process of it
// leaves a memory image behind.
type Limits struct {
	Memory    uint64 // bytes of data; address space that is only reserved is free: some runtimes reserve a terabyte
	OpenFiles uint64
	Processes uint64 // of the user, and so with all that the user runs besides
}

package mcp

// Command is a child process that speaks MCP on its standard input and output.
type Command struct {
	Path   string // absolute
	Args   []string
	Env    []string // the whole environment, as NAME=value
	Dir    string   // the working directory
	Limits Limits
	// Launcher, if set, is a program that calls [Launch] first: it sets the limits on itself and becomes the command. Without it, the
	// limits are set just after the start, and a runtime that has reserved memory by then may abort.
	Launcher string
	// Diagnose, if set, receives the end of the process's standard error after it has exited. This is remote
	// text and may repeat the environment.
	Diagnose func(text []byte)
}

// Limits bound each process of a command (Linux only); 0: the system's limit. No process writes a core dump.
type Limits struct {
	Memory    uint64 // bytes of data; reserved address space is not counted, because some runtimes reserve a terabyte
	OpenFiles uint64
	Processes uint64 // of the user, including processes outside of the command
}

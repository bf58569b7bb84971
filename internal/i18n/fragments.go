package i18n

// fragments are words and titles that other packages insert into sentences. They are no sentences, so the code
// search does not find them. One with a verb is a format.
var fragments = []Key{
	// missing things (package store)
	"agent", "agent or connector", "allowance", "approval", "change", "claim", "client registration", "client secret", "connector", "credential",
	"delivery", "environment", "grant", "icon", "invitation", "link", "member", "membership", "open invitation", "pending connection", "person", "result", "second factor",
	"setup link", "sync run", "tenant", "token", "tool call", "tool", "webhook",

	// secrets (connectors, credentials)
	"header", "password", "user name", "private key", "key", "API key",
	"connected account", "usable credential", "an account", "a client secret", "a private key", "a credential", "Connect one", "Set it", "Set one",
	"The accounts of the agents were disconnected", "The account was disconnected", "The stored secrets of the agents were deleted", "The stored secret was deleted",
	"%s, because %s.",
	"one credential serves all agents now", "each agent has its own now", "the URL moved to another origin", "the connector needs none any more",
	"the authentication changed", "the client id changed", "the authorization server's settings changed",

	// titles of notices (connectors)
	"%s needs authorization", "The access to %s lapses soon", "%s is down", "%s works again", "%s lost %d of %d tools", "%s asks to call %s", "%s asks to use %s", "%s asks to read %s", "The webhook %s is turned off",
	"%d tools of %s wait for a decision", "The instructions of %s wait for a decision", "%d changes of %s wait for a decision", "The tool %s of %s waits for a decision",
	"A test of the webhook %s",

	// durations and amounts (toolsync, toolcall, access)
	"1 second", "%d seconds", "1 millisecond", "%d milliseconds", "%.1f seconds", "%.0f minutes", "%.0f hours", "%d minutes", "%d hours", "1 call", "%d calls",
	"1 character", "%d characters", "1 item", "%d items", "1 byte", "%d bytes",

	// failures of servers (mcp, toolsync)
	"to list its tools", "the handshake", "a request",
	": %s",
	"we offered MCP %s, the server chose %s", "we offered MCP %s, the server supports %s", "something that is no version",
	"its certificate has expired or is not valid yet", "its certificate is for another host", "its certificate is signed by an unknown authority", "answers in plain HTTP",
	"answered with HTML", "answered with XML", "answered with broken JSON", "answered with something that is no reply", "answered with something that is not JSON",
	"ended its stream before the reply", "sent an empty answer", "sent more than 10000 messages before its reply", "sent more than 8 MiB", "sent more than Patchbay takes", "sent more than this connector takes",
	"redirects elsewhere", "redirects to %s", "redirects to no readable address", "an address that is not a web address",
	"asks for input in a way that cannot be read", "asks for more input again and again", "sent a result that is not an object", "sent a task without an id",
	"names no readable address for its messages", "wants its messages sent to %s", "sent an initialize result that is not an object", "sent a discovery without versions",
	"sent a result of an unknown kind", "offers no event stream at this address", "sent a session id that is not 1 to %d visible ASCII characters", "sent compressed data that is broken",
	"sent a list that is none", "lists %s of more than %d MiB", "lists its %s on more than %d pages", "lists more than %d %s", "repeats a cursor in its %s",
	"sent a cursor that is not a string", "sent a tool list that is not an object", "sent a tool list without tools",
	"cannot be started: %s", "the conversation is over", "closed its standard input", "closed its standard output", "ended before its reply, %s", "killed by a signal", "with exit code %d",
	"writes text that is not MCP to its standard output, and does not stop",
	"it cannot work in its folder", "it does not exist on this machine", "it is no program for this machine", "its arguments are too long", "no folder to work in",
	"this machine refuses", "what it needs to run does not exist on this machine",
	"is this machine's own", "is private", "is link-local", "is no one's", "is a multicast group's", "is not a public one",
	"is empty", "is not a string", "is not the name of a header", "stands on a parameter that is no string, integer or boolean", "stands on two parameters", "stands where no properties lead to it",

	// steps of a discovery (connect, oauth)
	"a tool list", "a refusal without a challenge", "a challenge", "protected-resource metadata", "authorization-server metadata",
	"a redirect", "an error", "HTML", "nothing", "no JSON object", "its address is one that may not be contacted", "no whole answer in time",
	"the connection broke before the answer was whole", "its name does not exist", "no connection",
	"no secure connection", "something that is not MCP", "more than we take", "a JSON-RPC error", "a version of MCP that we do not know",

	// invalid arguments (access)
	"The object of arguments", "The argument %q", "at least", "at most", "more than", "less than",

	"an array", "true or false", "an integer", "a number", "an object", "a string",

	// changes of a parameter (toolchange)
	"an address", "an e-mail address", "any value", "annotations.%s changed, and Patchbay does not know what it means.",
	"%s cannot be compared.", "%s takes other values as well now.", "%s takes fewer values now.", "%s has to be given now.", "%s has to be given.",
	"%s may be left out now.", "%s is checked in another way now: %s.", "%s is new: %s.", "%s is not there any more.", "%s has other places now.",
	"%s is not taken any more: only the named members are.", "%s is taken now: members of any name.",
}

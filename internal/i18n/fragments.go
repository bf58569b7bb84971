package i18n

// fragments are words and titles that other packages insert into sentences. They are no sentences, so the code
// search does not find them. One with a verb is a format.
var fragments = []Key{
	// missing things (package store)
	"agent", "agent or connector", "standing approval", "approval", "change", "claim", "client registration", "client secret", "connector", "credential",
	"delivery", "environment", "grant", "icon", "invitation", "link", "member", "membership", "open invitation", "pending connection", "person", "result", "second factor",
	"setup link", "sync run", "tenant", "token", "tool call", "tool", "webhook",

	// secrets (connectors, credentials)
	"header", "password", "username", "private key", "key", "API key",
	"an owner", "connected account", "usable credential", "an account", "a client secret", "a private key", "a credential", "Connect one", "Set it", "Set one",
	"Agents' accounts disconnected", "Account disconnected", "Agents' stored secrets deleted", "Stored secret deleted",
	"%s, because %s.",
	"agents now share one credential", "each agent has its own now", "the URL moved to another origin", "the connector no longer needs one",
	"the authentication changed", "the client ID changed", "the authorization server's settings changed",

	// titles of notices (connectors)
	"%s needs authorization", "Access to %s expires soon", "%s is down", "%s recovered", "%s lost tools: %d of %d", "%s asks to call %s", "%s asks to use %s", "%s asks to read %s", "Webhook %s turned off",
	"%d tools to review in %s", "%d skills to review in %s", "Instructions to review in %s", "%d changes to review in %s", "%s to review in %s",
	"Test of webhook %s",

	// durations and amounts (toolsync, toolcall, access)
	"1 second", "%d seconds", "1 millisecond", "%d milliseconds", "%.1f seconds", "%.0f minutes", "%.0f hours", "1 minute", "%d minutes", "1 hour", "%d hours", "1 day", "%d days", "1 call", "%d calls",
	"1 character", "%d characters", "1 item", "%d items", "1 byte", "%d bytes",

	// failures of servers (mcp, toolsync)
	"to list its tools", "the handshake", "a request",
	": %s",
	"we offered MCP %s, the server chose %s", "we offered MCP %s, the server supports %s", "an invalid version",
	"its certificate is expired or not yet valid", "its certificate is for another host", "its certificate authority is unknown", "answers in plain HTTP",
	"answered with HTML", "answered with XML", "answered with broken JSON", "sent an invalid response", "answered with non-JSON",
	"closed the stream before replying", "sent an empty response", "sent over 10000 messages before replying", "sent over 8 MiB", "exceeded Patchbay's size limit", "exceeded this connector's size limit",
	"redirects elsewhere", "redirects to %s", "redirects to an invalid URL", "a non-HTTP address",
	"sent an unreadable input request", "keeps asking for input", "sent a non-object result", "sent a task without ID",
	"sent no valid message URL", "wants messages sent to %s", "sent a non-object initialize result", "sent a discovery without versions",
	"sent an unknown result type", "offers no event stream here", "sent a session ID that isn't 1–%d visible ASCII characters", "sent corrupt compressed data",
	"sent an invalid list", "lists %s of over %d MiB", "lists its %s on over %d pages", "lists over %d %s", "repeats a cursor in its %s",
	"sent a non-string cursor", "sent a non-object tool list", "sent a tool list without tools",
	"can't be started: %s", "the session has ended", "closed its standard input", "closed its standard output", "ended before its reply, %s", "killed by a signal", "with exit code %d",
	"keeps writing non-MCP text to standard output",
	"its folder isn't usable", "it doesn't exist here", "it can't run on this machine", "its arguments are too long", "no working folder",
	"this machine refused", "its interpreter or loader is missing",
	"is loopback", "is private", "is link-local", "is unspecified", "is multicast", "is not public",
	"is empty", "is not a string", "is not a header name", "needs a string, integer or boolean parameter", "is used by two parameters", "isn't reachable through properties",

	// steps of a discovery (connect, oauth)
	"a tool list", "a refusal without a challenge", "a challenge", "protected-resource metadata", "authorization-server metadata",
	"a redirect", "an error", "HTML", "nothing", "empty", "no JSON object", "its address isn't allowed", "a timeout",
	"the connection broke mid-response", "its name doesn't resolve", "no connection",
	"no secure connection", "something other than MCP", "too much data", "a JSON-RPC error", "an unknown MCP version",

	// invalid arguments (access)
	"The object of arguments", "The argument %q", "at least", "at most", "more than", "less than",

	"an array", "true or false", "an integer", "a number", "an object", "a string", "list of values",

	// changes of a parameter (toolchange)
	"an address", "an email address", "any value", "annotations.%s changed; its meaning is unknown.",
	"%s can't be compared.", "%s now accepts more values.", "%s now accepts fewer values.", "%s is now required.", "%s is required.",
	"%s is now optional.", "%s is now checked differently: %s.", "%s is new: %s.", "%s was removed.", "%s now has different items.",
	"%s is no longer allowed.", "%s is now allowed.", "%s now allows duplicate items.", "%s no longer allows duplicate items.",
	"%s now accepts only listed values.", "%s now accepts unlisted values.", "%s now also accepts: %s.", "%s no longer accepts: %s.",
	"%s now has a different %s.", "%s now has a narrower %s.", "%s now has a wider %s.", "%s now has a %s.", "%s no longer has a %s.",
	"%s now has different alternatives.", "%s now has %d more alternatives.", "%s now has %d fewer alternatives.", "%s is new and unused.",
}

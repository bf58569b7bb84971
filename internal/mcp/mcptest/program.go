package mcptest

// Shell is the path that starts [Program].
const Shell = "/bin/sh"

// Program is a stdio server as arguments of a shell. It has the tool greet and, if its environment has
// GREETING, greeting_is_set. It prints its environment to standard error, as some programs do.
var Program = []string{"-c", `
env >&2
tools='{"name":"greet","inputSchema":{"type":"object"}}'
[ -z "$GREETING" ] || tools="$tools,{\"name\":\"greeting_is_set\",\"inputSchema\":{\"type\":\"object\"}}"
echo "A server of standard input and output. Welcome!"
while IFS= read -r line; do
	id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
	case $line in
	*'"method":"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1"}}' ;;
	*'"method":"tools/list"'*) result="{\"tools\":[$tools]}" ;;
	*) result= ;;
	esac
	if [ -n "$id" ] && [ -n "$result" ]; then
		printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
	elif [ -n "$id" ]; then
		printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}\n' "$id"
	fi
done
`}

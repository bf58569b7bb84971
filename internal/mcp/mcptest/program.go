package mcptest

// Shell is the path that starts [Program].
const Shell = "/bin/sh"

// Program is a server of transport stdio, as the arguments of a shell. It has the tools greet and, where its environment has a
// GREETING, the tool greeting_is_set. On its standard error it prints its environment, as some programs do.
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

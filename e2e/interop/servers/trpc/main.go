// Command trpc is a server of trpc-mcp-go on a port, which replies with event streams.
package main

import (
	"context"
	"log"
	"os"
	"strconv"

	mcp "trpc.group/trpc-go/trpc-mcp-go"
)

func main() {
	server := mcp.NewServer("trpc", "1.0.0", mcp.WithServerAddress("localhost:"+os.Args[1]), mcp.WithServerPath("/mcp"))
	add := mcp.NewTool("add", mcp.WithDescription("Adds two integers."), mcp.WithInteger("a", mcp.Required()), mcp.WithInteger("b", mcp.Required()))
	server.RegisterTool(add, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		a, _ := req.Params.Arguments["a"].(float64)
		b, _ := req.Params.Arguments["b"].(float64)
		return mcp.NewTextResult(strconv.Itoa(int(a + b))), nil
	})
	log.Fatal(server.Start())
}

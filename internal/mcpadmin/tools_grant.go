package mcpadmin

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"patchbay/client"
	"patchbay/internal/connectors"
)

var grantTools = []tool{
	newTool(tool{
		name: "grant_tools", title: "Grant tools to an agent", permission: connectors.PermManage, operations: []string{"grantConnector", "dropConnector"}, hints: destructiveHints,
		description: "Replaces an agent's grant of a connector: some tools, all tools (also those of later syncs), or with an empty list none. Grant no more than needed. The user has to confirm it.",
		input: objectSchema(
			textProperty("agent", "Its slug or id.").asRequired(),
			textProperty("connector", "Its slug or id.").asRequired(),
			property{name: "tools", schema: &jsonschema.Schema{
				Type: "array", MaxItems: new(1000), Items: &jsonschema.Schema{Type: "string", MaxLength: new(128)},
				Description: "The names that the server gives them; empty: the connector is taken from the agent. Leave it out with all_tools.",
			}},
			property{name: "all_tools", schema: &jsonschema.Schema{Type: "boolean", Description: "All of them, those of later syncs, too."}},
			choiceProperty("prompts", "Which prompts; left out: as before, or for a new grant listed with all_tools, else none.", "none", "listed"),
			choiceProperty("resources", "Which resources, likewise with listed_and_templates.", "none", "listed", "listed_and_templates"),
			choiceProperty("approval", "Which calls wait for a person, in place of what the agent's own setting says.", "auto", "always_ask", "trusted_only", "always_ask_all"),
		),
		confirm: withArguments(askGrant),
	}, grantToolsTo),
}

type grantIn struct {
	Agent     string   `json:"agent"`
	Connector string   `json:"connector"`
	Tools     []string `json:"tools"`
	AllTools  bool     `json:"all_tools"`
	Approval  string   `json:"approval"`
	Prompts   string   `json:"prompts"`
	Resources string   `json:"resources"`
}

// checkChoice refuses neither or both of tools and all_tools.
func (in grantIn) checkChoice() error {
	if in.AllTools == (in.Tools != nil) {
		return invalidArguments("Say either tools or all_tools.")
	}
	return nil
}

const maxAskedNames = 20

func askGrant(_ context.Context, c *caller, in grantIn) (question, error) {
	if err := in.checkChoice(); err != nil {
		return question{}, err
	}
	what := "all tools, those of later syncs, too,"
	switch {
	case in.AllTools:
	case len(in.Tools) == 0:
		return question{
			fmt.Sprintf("Take the connector %s from the agent %s?", quoteText(in.Connector), quoteText(in.Agent)), c.pageURL("agents", in.Agent, "connectors", in.Connector),
		}, nil
	default:
		names := make([]string, 0, maxAskedNames)
		for _, name := range in.Tools[:min(len(in.Tools), maxAskedNames)] {
			names = append(names, quoteText(name))
		}
		what = fmt.Sprintf("these %d tools (%s)", len(in.Tools), strings.Join(names, ", "))
		if len(in.Tools) > maxAskedNames {
			what = fmt.Sprintf("%d tools (%s and others)", len(in.Tools), strings.Join(names, ", "))
		}
	}
	asks := ""
	if in.Approval != "" {
		asks = " Approval of calls: " + in.Approval + "."
	}
	if in.Prompts != "" {
		asks += " Prompts: " + in.Prompts + "."
	}
	if in.Resources != "" {
		asks += " Resources: " + in.Resources + "."
	}
	return question{
		fmt.Sprintf("Let the agent %s use %s of the connector %s, in place of what it was granted of it before?%s", quoteText(in.Agent), what, quoteText(in.Connector), asks),
		c.pageURL("agents", in.Agent, "connectors", in.Connector),
	}, nil
}

type grantResult struct {
	Agent     string `json:"agent"`
	Connector string `json:"connector"`
	AllTools  bool   `json:"all_tools"`
	Tools     int    `json:"tools" jsonschema:"How many were named."`
}

func grantToolsTo(ctx context.Context, c *caller, in grantIn) (grantResult, string, error) {
	if err := in.checkChoice(); err != nil {
		return grantResult{}, "", err
	}
	out := grantResult{in.Agent, in.Connector, in.AllTools, len(in.Tools)}
	if !in.AllTools && len(in.Tools) == 0 {
		return out, "The connector was taken from the agent.", c.DropConnector(ctx, in.Agent, in.Connector)
	}
	err := c.GrantConnector(ctx, in.Agent, in.Connector, client.AgentGrantPut{
		Tools: client.ToolSet{All: in.AllTools, Names: in.Tools}, Approval: optionalText(in.Approval),
		Prompts: optionalText(in.Prompts), Resources: optionalText(in.Resources),
	})
	return out, "The agent may use them now. It needs no restart: its list of tools is told to have changed.", err
}

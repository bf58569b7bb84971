package mcpadmin

import (
	"cmp"
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
		description: "Replaces an agent's grant of a connector: some tools, all tools (including those of later syncs), or none with an empty list. Grant no more than needed. Asks the user to confirm.",
		input: objectSchema(
			textProperty("agent", "The agent's slug or id.").asRequired(),
			textProperty("connector", "The connector's slug or id.").asRequired(),
			property{name: "tools", schema: &jsonschema.Schema{
				Type: "array", MaxItems: new(1000), Items: &jsonschema.Schema{Type: "string", MaxLength: new(128)},
				Description: "The server's tool names. Empty: removes access. Omit with all_tools.",
			}},
			property{name: "all_tools", schema: &jsonschema.Schema{Type: "boolean", Description: "All tools, including those of later syncs."}},
			property{name: "pinned_tools", schema: &jsonschema.Schema{
				Type: "array", MaxItems: new(connectors.MaxPinnedTools), Items: &jsonschema.Schema{Type: "string", MaxLength: new(128)},
				Description: "The server's names of tools that stay in a lean list. Default: unchanged.",
			}},
			accountProperty("The name of the account to use, if the connector or the agent has several: see list_accounts. Default: unchanged."),
			property{name: "accounts", schema: &jsonschema.Schema{
				Type: "array", MinItems: new(1), MaxItems: new(connectors.MaxBoundAccounts), Items: &jsonschema.Schema{Type: "string", MaxLength: new(connectors.MaxSlug)},
				Description: "In place of account: the names of several. The agent gets the connector once for each.",
			}},
			choiceProperty("prompts", "Prompts. Default: unchanged; for a new grant, listed with all_tools, else none.", "none", "listed"),
			choiceProperty("resources", "Resources. Default: unchanged; for a new grant, listed_and_templates with all_tools, else none.", "none", "listed", "listed_and_templates"),
			choiceProperty("approval", "Overrides the agent's approval mode.", "auto", "always_ask", "trusted_only", "always_ask_all"),
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
	Pinned    []string `json:"pinned_tools"`
	Account   string   `json:"account"`
	Accounts  []string `json:"accounts"`
}

// checkChoice refuses neither or both of tools and all_tools.
func (in grantIn) checkChoice() error {
	if in.AllTools == (in.Tools != nil) {
		return invalidArguments("Pass either tools or all_tools.")
	}
	return nil
}

const maxAskedNames = 20

// quoteNames quotes the first names of a question, and counts the rest.
func quoteNames(names []string) string {
	quoted := make([]string, 0, maxAskedNames)
	for _, name := range names[:min(len(names), maxAskedNames)] {
		quoted = append(quoted, quoteText(name))
	}
	text := strings.Join(quoted, ", ")
	if more := len(names) - len(quoted); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func askGrant(_ context.Context, c *caller, in grantIn) (question, error) {
	if err := in.checkChoice(); err != nil {
		return question{}, err
	}
	what := "all tools, including those of later syncs,"
	switch {
	case in.AllTools:
	case len(in.Tools) == 0:
		return question{
			fmt.Sprintf("Remove access to the connector %s from the agent %s?", quoteText(in.Connector), quoteText(in.Agent)), c.pageURL("agents", in.Agent, "connectors", in.Connector),
		}, nil
	default:
		what = fmt.Sprintf("these %d tools (%s)", len(in.Tools), quoteNames(in.Tools))
	}
	asks := ""
	if in.Account != "" {
		asks = " With the account " + quoteText(in.Account) + "."
	}
	if len(in.Accounts) > 0 {
		asks = " With the accounts " + quoteNames(in.Accounts) + "."
	}
	if in.Approval != "" {
		asks += " Approval of calls: " + in.Approval + "."
	}
	if in.Prompts != "" {
		asks += " Prompts: " + in.Prompts + "."
	}
	if in.Resources != "" {
		asks += " Resources: " + in.Resources + "."
	}
	if in.Pinned != nil {
		asks += fmt.Sprintf(" Pinned in a lean list: %s.", cmp.Or(quoteNames(in.Pinned), "none"))
	}
	return question{
		fmt.Sprintf("Let the agent %s use %s of the connector %s? This replaces its current access to the connector.%s", quoteText(in.Agent), what, quoteText(in.Connector), asks),
		c.pageURL("agents", in.Agent, "connectors", in.Connector),
	}, nil
}

type grantResult struct {
	Agent     string `json:"agent"`
	Connector string `json:"connector"`
	AllTools  bool   `json:"all_tools"`
	Tools     int    `json:"tools" jsonschema:"Number of tools named."`
}

func grantToolsTo(ctx context.Context, c *caller, in grantIn) (grantResult, string, error) {
	if err := in.checkChoice(); err != nil {
		return grantResult{}, "", err
	}
	out := grantResult{in.Agent, in.Connector, in.AllTools, len(in.Tools)}
	if !in.AllTools && len(in.Tools) == 0 {
		return out, "The agent's access to the connector was removed.", c.DropConnector(ctx, in.Agent, in.Connector)
	}
	err := c.GrantConnector(ctx, in.Agent, in.Connector, client.AgentGrantPut{
		Tools: client.ToolSet{All: in.AllTools, Names: in.Tools}, Approval: optionalText(in.Approval), PinnedTools: in.Pinned,
		Prompts: optionalText(in.Prompts), Resources: optionalText(in.Resources), Account: optionalText(in.Account), Accounts: in.Accounts,
	})
	return out, "The agent can use them now, without a restart.", err
}

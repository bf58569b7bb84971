// Package api is the JSON door: the dashboard's twin for programs. It reads a request, asks the rooms below, and writes the
// answer in the words of the public contract; it has no rules of its own.
//
//	method               path, below /api/v1                            least role
//	GET                  /connectors                                    viewer
//	POST                 /connectors                                    admin
//	POST                 /connectors/test                               admin
//	GET                  /connectors/{id}                               viewer
//	PATCH DELETE         /connectors/{id}                               admin
//	POST                 /connectors/{id}/sync_tools                    member
//	GET                  /connectors/{id}/sync_runs                     viewer
//	GET                  /connectors/{id}/tools                         viewer
//	GET                  /connectors/{id}/credentials                   viewer
//	PUT DELETE           /connectors/{id}/credential                    admin
//	PUT DELETE           /connectors/{id}/agents/{agent}/credential     admin
//	POST                 /connectors/{id}/connect                       admin
//	POST                 /sync_tools                                    member
//	GET                  /sync_runs/{id}                                viewer
//	GET                  /tools                                         viewer
//	POST                 /import                                        admin
//	GET                  /export                                        viewer
//	GET                  /agents, /agents/{id}                          viewer
//	POST PATCH DELETE    /agents, /agents/{id}                          admin
//	GET                  /agents/{id}/mcp_config                        viewer; with direct=true admin
//	GET                  /notices                                       viewer
//	POST                 /notices/read                                  viewer, who is a person
//	GET POST PATCH DELETE  /webhooks, /webhooks/{id}                    admin
//	POST                 /webhooks/{id}/test, /rotate_secret            admin
//	GET                  /webhooks/{id}/deliveries                      admin
//	POST                 /webhooks/{id}/deliveries/{delivery}/redeliver admin
//	GET POST DELETE      /api_keys, /api_keys/{id}                      owner
//	GET POST PATCH DELETE  /members, /members/{id}                      owner
//	GET PATCH            /tenant                                        owner
//
// and, outside /api/v1, POST /connectors/{id}/sync_tools, which the dashboard serves to browsers at the same address.
//
// The checks of a request come in this order: who calls (401), may they (403), is the query well formed (422), is the
// thing there (404), is the body well formed (400, 413, 422). So nobody learns from a refusal what they may not see.
//
// One resource is one file, with its JSON types. The OpenAPI document is made from the same types, and a body is checked
// against that document ([document]): what it says is what is accepted.
//
// What it is not for: pages and forms (package admin), the protocol for agents (package gateway).
package api

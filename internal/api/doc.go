// Package api serves the JSON API, the dashboard's counterpart for programs. It reads a request, calls the services below, and
// writes the response as the public contract defines it. It has no rules of its own.
//
//	method               path, below /api/v1                            role
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
//	GET                  /agents/{id}/workloads                         viewer
//	POST DELETE          /agents/{id}/workloads                         admin
//	GET                  /agents/{id}/mcp_config                        viewer; with direct=true admin
//	GET                  /notices                                       viewer
//	POST                 /notices/read                                  viewer, as a person
//	GET POST PATCH DELETE  /webhooks, /webhooks/{id}                    admin
//	POST                 /webhooks/{id}/test, /rotate_secret            admin
//	GET                  /webhooks/{id}/deliveries                      admin
//	POST                 /webhooks/{id}/deliveries/{delivery}/redeliver admin
//	GET POST PATCH DELETE  /audit_streams, /audit_streams/{id}          admin
//	POST                 /audit_streams/{id}/test                       admin
//	GET POST PATCH DELETE  /registries, /registries/{id}                admin
//	POST                 /registries/{id}/rotate_address                admin
//	GET POST DELETE      /scim                                          owner
//	POST                 /scim/rotate_token                             owner
//	GET POST DELETE      /api_keys, /api_keys/{id}                      owner
//	GET POST PATCH DELETE  /members, /members/{id}                      owner
//	GET PATCH            /tenant                                        owner
//
// and, outside /api/v1, POST /connectors/{id}/sync_tools, which the dashboard serves to browsers at the same address.
//
// A request is checked in this order: authentication (401), permission (403), query (422), existence of the path's things (404),
// body (400, 413, 422). So an error reveals nothing that the caller may not see.
//
// One resource is one file, with its JSON types. The OpenAPI document is generated from these types, and bodies are validated
// against it ([requestBody]).
//
// Pages and forms are in package admin, the gateway for agents in package gateway.
package api

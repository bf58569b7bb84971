# `make` lists what there is. Nothing here needs more than Go, git and make: PostgreSQL's programs are fetched where
# they are missing.

SHELL := /bin/sh
GO    ?= go
TOOL  := $(GO) tool -modfile=tools/go.mod
# A package's tests that hang end with all stacks after that time.
PATIENCE     = 20m
E2E_PATIENCE = 30m
# Tests that start Patchbay, a browser, Node or a pooler as processes. Their files have the build tag e2e.
INTEROP_FILES = $$(grep -rl --include='*_test.go' --exclude-dir=node_modules '^//go:build e2e && interop$$' .)
E2E_FILES = $$(grep -rl --include='*_test.go' --exclude-dir=node_modules '^//go:build e2e$$' .)

# Tests of bounds that the race detector exceeds, and of pages that take it minutes.
UNRACED_FILES = $$(grep -rl --include='*_test.go' '^//go:build !race$$' ./internal)

# Compiled with the race detector only.
RACE_FILES = $$(grep -rlE --include='*.go' '^//go:build (.* )?race(\)| |$$)' ./internal)

# Generated, and held fresh by `make check`.
GENERATED = find internal/store/dbgen web/templates client -name '*.go' \( -path '*/dbgen/*' -o -name '*_templ.go' -o -name '*_gen.go' \) | sort | xargs cksum

.DEFAULT_GOAL := help
.PHONY: help run build release sbom reproducible test e2e interop check format lint fresh renames manifests race conformance openapi-conformance generate notices screenshots dev bench bench-pages bench-gateway soak chaos fuzz clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## start Patchbay on http://127.0.0.1:8080, with a PostgreSQL of its own unless DATABASE_URL is set
	@if [ -z "$$DATABASE_URL" ]; then scripts/get-postgres; fi
	@exec ./bin/patchbay

build: ## compile ./bin/patchbay
	@$(GO) build -o bin/patchbay ./cmd/server

# Nothing of the machine is in it: two builds of one source are the same, byte for byte (`make reproducible`).
RELEASE = CGO_ENABLED=0 GOFLAGS= GOWORK=off $(GO) build -trimpath -buildvcs=false -ldflags '-s -w -buildid= -X main.release=$(VERSION)'

release: ## compile ./bin/release/patchbay as it is given away (VERSION=v1.2.3), with its SBOM and checksums
	@mkdir -p bin/release
	@$(RELEASE) -o bin/release/patchbay ./cmd/server
	@bin/release/patchbay sbom > bin/release/patchbay.cdx.json
	@cd bin/release && sha256sum patchbay patchbay.cdx.json > SHA256SUMS && cat SHA256SUMS

sbom: build ## what ./bin/patchbay is made of, in CycloneDX, to bin/patchbay.cdx.json
	@bin/patchbay sbom > bin/patchbay.cdx.json

reproducible: ## build a release here and from a copy elsewhere, and fail where they differ
	@there=$$(mktemp -d) && trap 'rm -rf "$$there"' EXIT && \
	git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$$there" && \
	$(RELEASE) -o bin/here/patchbay ./cmd/server && (cd "$$there" && $(RELEASE) -o there/patchbay ./cmd/server) && \
	cmp bin/here/patchbay "$$there/there/patchbay" && sha256sum bin/here/patchbay

# Tests wait more than they compute: two packages for each core. A garbage collection less often saves a fifth of their
# processor time, and internal/api needs more than 600 MiB for that; only the race detector needs cgo, which slows links.
GO_TEST = GOGC=off GOMEMLIMIT=1GiB $(GO) test -p $$((2 * $$(getconf _NPROCESSORS_ONLN))) -timeout $(PATIENCE)
# Packages without goroutines or locks: checks of source text, and readers of schemas. The race detector finds nothing
# there and takes ten times as long. `make race` runs them without it, and the tests of files for !race.
SEQUENTIAL = ./internal/archtest ./internal/renames ./internal/jsonschema ./internal/mcp/toolfmt ./internal/toolchange ./internal/shaping ./internal/toolsearch
# These take longest and begin first: at the end, one of them would leave a core idle. The store and those that wait come
# before others that compute.
LONG = ./internal/store ./internal/admin ./internal/toolcall ./internal/jobs ./internal/toolsync ./internal/api ./internal/gateway ./cmd/server ./internal/agentview

# `make lint` has vet's checks, of all files but RACE_FILES. Packages with them are vetted in `make race`.
NO_VET = -vet=off

test: ## run the tests; nothing has to be started first
	@scripts/get-postgres
ifdef RACE
	CGO_ENABLED=0 $(GO_TEST) $(NO_VET) -shuffle=on $(SEQUENTIAL)
	@files=$(UNRACED_FILES); names=$$(sed -nE 's/^func ((Test|Fuzz)[A-Za-z0-9_]+)\(. .*/\1/p' $$files | paste -sd'|'); \
	CGO_ENABLED=0 $(GO_TEST) $(NO_VET) -shuffle=on -run "^($$names)\$$" $$(dirname $$files | sort -u)
	CGO_ENABLED=1 $(GO_TEST) $(NO_VET) -race -shuffle=on $(LONG) $$($(GO) list ./... | grep -vxF "$$($(GO) list $(SEQUENTIAL))")
	CGO_ENABLED=1 $(GO_TEST) $(NO_VET) -race -tags e2e ./internal/postgres
	CGO_ENABLED=1 $(GO) vet -race $$(dirname $(RACE_FILES) | sort -u)
else
	CGO_ENABLED=0 $(GO_TEST) $(LONG) ./...
endif

race: ## the same with the race detector, in random order
	@$(MAKE) --no-print-directory test RACE=1

# Each of these tests keeps a browser or several processes busy: with more at a time, some wait too long on two cores.
e2e: ## run the tests that start processes: Patchbay itself, PostgreSQL, a browser, Node, poolers
	@scripts/get-postgres
	@files=$(E2E_FILES); names=$$(sed -nE 's/^func (Test[A-Za-z0-9_]+)\(t .*/\1/p' $$files | paste -sd'|'); \
	$(GO) test $(NO_VET) -tags e2e -parallel 3 -timeout $(E2E_PATIENCE) -run "^($$names)\$$" $$(dirname $$files | sort -u)

interop: ## run the tests with large packages of others, such as the example apps in a browser (docs/conformance.md)
	@scripts/get-postgres
	@files=$(INTEROP_FILES); names=$$(sed -nE 's/^func (Test[A-Za-z0-9_]+)\(t .*/\1/p' $$files | paste -sd'|'); \
	$(GO) test -tags e2e,interop -timeout $(E2E_PATIENCE) -run "^($$names)\$$" $$(dirname $$files | sort -u)

check: format lint fresh manifests race e2e ## everything a change has to pass

format: ## fail where gofmt or `templ fmt` would change a file
	@unformatted=$$(gofmt -l $$(git ls-files --cached --others --exclude-standard '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not formatted, run gofmt -w:" $$unformatted; exit 1; fi
	@out=$$($(TOOL) templ fmt -fail web/templates 2>&1) || { echo "$$out"; exit 1; }

# The findings are kept beside the tree that they are of: a second checkout would find paths of the first.
lint: ## golangci-lint, and the queries' tenant rule
	GOLANGCI_LINT_CACHE=$(CURDIR)/bin/lint $(TOOL) golangci-lint run --allow-serial-runners ./...
	$(TOOL) sqlc vet

fresh: ## fail where the committed generated code is not what `make generate` makes
	@before=$$($(GENERATED)); $(MAKE) --no-print-directory generate; after=$$($(GENERATED)); \
	if [ "$$before" != "$$after" ]; then echo "generated code was stale; it is fresh now: commit it"; exit 1; fi

renames: ## hold commits whose subject begins with "rename:" to that, among the last 40
	@GO="$(GO)" scripts/rename-only --recent

# A module of its own: what it needs of Helm, Kubernetes and Prometheus is no part of Patchbay.
manifests: ## hold the chart, the alerts and the dashboard in deploy/ against Helm, Kubernetes' types and Prometheus' parser
	cd tools/deploy && $(GO) vet ./... && $(GO) test -count=1 ./...

conformance: ## let the official MCP suite judge ./bin/patchbay, as a client and as a server (docs/conformance.md)
	@conformance/run
	@HTTP=standard conformance/run

openapi-conformance: ## the table of conformance/openapi/table.txt: tools of public API documents, through the gateway with both SDKs' clients
	@conformance/openapi/fetch
	@conformance/run openapi

generate: ## queries and pages to Go, and the client from the OpenAPI document
	@$(TOOL) sqlc generate
	@$(TOOL) templ generate -path web/templates -log-level error
	@$(GO) run ./client/internal/generate

notices: ## the licences of everything that is linked or vendored, to THIRD_PARTY_NOTICES.md
	@scripts/notices

screenshots: ## the pictures of the README and of the user guide, taken by the browser tests (the others stay in bin/screenshots)
	@scripts/get-postgres
	@mkdir -p bin/screenshots docs/images
	CI=true PATCHBAY_SCREENSHOTS=$(CURDIR)/bin/screenshots $(GO) test -tags e2e -count=1 -run 'ASeeded|InTheBrowser|ABrowserInvites' ./e2e ./internal/admin
	@cp bin/screenshots/seeded-connectors-light.png docs/images/connectors.png
	@cp bin/screenshots/seeded-connectors-dark.png docs/images/connectors-dark.png
	@scripts/guide-pictures bin/screenshots

dev: ## run, and start again whenever a source file changes
	@if [ -z "$$DATABASE_URL" ]; then scripts/get-postgres; fi
	@exec scripts/dev

bench: ## the figures of docs/performance.md
	@scripts/get-postgres
	$(GO) test -run '^$$' -bench . -benchmem -p 1 ./...

bench-pages: ## the server time and the statements of every page, in a tenant with much in it
	@scripts/get-postgres
	$(GO) test -run '^$$' -bench '^BenchmarkPages$$' -benchtime 30x ./internal/admin

bench-gateway: build ## the gateway against a bare reverse proxy, by turns; the ratios with their spread, and the bound of API calls
	@scripts/get-postgres
	$(GO) build -o bin/bench-gateway ./bench/gateway
	@bin/bench-gateway run -max-api-ratio 1.3

soak: build ## a million calls through the gateway, each reply checked (SOAK_CALLS=… for another number)
	@scripts/get-postgres
	$(GO) test -tags soak ./bench/gateway
	$(GO) test -tags e2e,soak -timeout 60m -v -run '^TestAccounts_NoCallUsesAnother$$' ./e2e
	$(GO) build -o bin/bench-gateway ./bench/gateway
	@bin/bench-gateway soak -calls $${SOAK_CALLS:-1000000}

chaos: ## everything around Patchbay goes wrong under load, for 6 minutes; what was lost is counted (CHAOS_TIME=1m for another time)
	@scripts/get-postgres
	$(GO) test -tags soak ./bench/chaos
	$(GO) build -o bin/bench-chaos ./bench/chaos
	@bin/bench-chaos -time $${CHAOS_TIME:-6m}

fuzz: ## each fuzz test for 30 seconds (FUZZTIME=10m for another time, FUZZ=FuzzReader for one)
	@GO="$(GO)" scripts/fuzz

clean: ## remove what was built (the data directory stays)
	rm -rf bin

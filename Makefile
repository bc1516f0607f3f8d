# make help lists the targets.
.DEFAULT_GOAL := help
.PHONY: help run build image release test check tools fresh contract unit chart fuzz mutants soak bench

GO ?= go
# Tests share one private PostgreSQL that is started for them and stopped.
WITH_POSTGRES = CGO_ENABLED=0 $(GO) build -trimpath -o bin/withpostgres ./internal/store/storetest/withpostgres && bin/withpostgres
FUZZTIME ?= 3s
# The race detector would spend most of its time in SQLite (C transpiled to Go), which is left
# out. Only packages without generic functions can be: of sync.Map, for example, each package that
# uses it has a copy, and the linker takes any, so that an unwatched one hides how goroutines
# wait for each other, and races are reported that are none. vet, staticcheck and the tests
# have the same flags, as other flags would compile everything once more. So would another folder,
# but for -trimpath.
UNWATCHED = modernc.org/sqlite/lib modernc.org/libc
export WATCHED = -trimpath -race $(UNWATCHED:%=-gcflags=%=-race=false)
# What waymark version prints. A clone without tags has a commit, a plain
# folder neither.
VERSION ?= $(shell git describe --tags --always --abbrev=12 --dirty 2>/dev/null)
COMMIT ?= $(shell git describe --always --exclude='*' --abbrev=12 --dirty 2>/dev/null)
# Where make build puts the program; GOOS and GOARCH choose the system that it is for.
PROGRAM ?= bin/waymark

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' Makefile

run: build ## build and start in development mode (needs only Go)
	./bin/waymark serve --dev

build: ## build bin/waymark
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)" -o $(PROGRAM) ./cmd/waymark

# In Docker's format, as that of the others has no health check.
BUILDER ?= $(firstword $(notdir $(shell command -v docker podman buildah)))
image: export GOOS = linux
image: build ## build the container image waymark with docker, podman or buildah
	$(or $(BUILDER),$(error make image needs docker, podman or buildah)) build $(if $(filter docker,$(BUILDER)),,--format docker) \
		--file deploy/Containerfile --target prebuilt --tag waymark .

release: export VERSION := $(VERSION)
release: export COMMIT := $(COMMIT)
release: ## archives, packages, checksums and SBOMs in dist/ (RELEASE='linux/amd64')
	GO=$(GO) $(GO) run ./scripts/release $(RELEASE)

test: tools check contract unit chart fuzz ## everything a change must pass

FORMATTED = api client cmd dashboard docs internal scripts test *.go
check: ## format, vet, staticcheck
	@test -z "$$(gofmt -l $(FORMATTED))" || { gofmt -l $(FORMATTED); echo "run gofmt on these"; exit 1; }
	$(GO) vet $(WATCHED) ./...
	GOFLAGS="$(WATCHED)" $$($(GO) tool -n -modfile=tools/go.mod staticcheck) ./...
	$(GO) -C test/helm vet ./...
	staticcheck=$$($(GO) tool -n -modfile=tools/go.mod staticcheck) && cd test/helm && $$staticcheck ./...

fresh: tools ## prove that a machine with empty caches can build
	GO=$(GO) scripts/fresh

contract: ## lint the contract with testers from outside
	cd test/contract && npm ci --silent --no-audit --no-fund
	cd test/contract && npx --no-install spectral lint --quiet --fail-severity hint ../../api/openapi.yaml
	cd test/contract && npx --no-install redocly lint --config redocly.yaml ../../api/openapi.yaml

# The machine has the memory: to collect garbage less often saves a fifth of the time.
unit: export GOGC = 400
unit: ## all tests with the race detector, on SQLite and a private PostgreSQL
	$(WITH_POSTGRES) $(GO) test $(WATCHED) -count=1 -timeout 20m ./...
	# All their cases, of which the race detector would leave time for few; compiled as make build does.
	$(WITH_POSTGRES) env CGO_ENABLED=0 $(GO) test -trimpath -count=1 ./internal/qr/qrimage ./internal/eventstore/...

chart: ## the Helm chart, with Helm's own code and the types of Kubernetes
	$(WITH_POSTGRES) $(GO) -C test/helm test -trimpath -count=1 ./...

fuzz: ## each fuzz target for FUZZTIME
	FUZZTIME=$(FUZZTIME) GO=$(GO) scripts/fuzz

mutants: tools ## small mistakes in the code, and the test that notices each (MUTANTS='-seed 7 -n 20')
	$(WITH_POSTGRES) nice -n 10 $(GO) run ./test/mutants $(MUTANTS)

soak: tools ## the long crash runs and fuzzing (about half an hour)
	$(WITH_POSTGRES) $(GO) test -tags soak -race -count=1 -timeout 60m ./test/... ./internal/executor/ ./internal/clicklog/ ./internal/eventstore/segments/
	FUZZTIME=2m GO=$(GO) scripts/fuzz

bench: build ## ratios to nginx, net/http, golink (GOLINK names it) and the aims, in one run
	$(GO) run ./test/bench

tools: ## install what the tests need besides Go (Debian, as root)
	scripts/tools

# Everything needs only Go and git; tools are pinned in go.mod.

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
BENCHTIME ?= 1s
FUZZTIME ?= 30s
DATA ?= ./data

.DEFAULT_GOAL := build
.PHONY: build run test race lint fuzz bench bench-compare cover check

build: ## bin/sonde
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/sonde ./cmd/sonde

run: build ## build and serve with the data in ./data
	./bin/sonde serve --data $(DATA)

test: ## all tests
	go test ./...

race: ## all tests under the race detector
	go test -race -timeout 20m ./...

lint: ## formatting, vet, golangci-lint, a tidy go.mod
	test -z "$$(gofmt -l .)"
	go vet ./...
	go tool golangci-lint run
	go mod tidy -diff

fuzz: ## every fuzz target for FUZZTIME
	@set -e; for file in $$(grep -rl --include='*_test.go' '^func Fuzz' .); do \
	  for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' $$file); do \
	    echo "== $$(dirname $$file) $$target"; \
	    go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) ./$$(dirname $$file); \
	  done; \
	done

bench: ## benchmarks; BenchmarkRatio compares with a null sink in the same run
	go test -run '^$$' -bench . -skip Ratio -benchtime $(BENCHTIME) ./storage/... ./query/... ./mcp/... ./receiver/...
	go test -run '^$$' -bench Ratio -benchtime 8x ./receiver

bench-compare: ## benchmarks at REF and here, side by side
	@test -n "$(REF)" || { echo "usage: make bench-compare REF=main"; exit 2; }
	@set -e; tree=$$(mktemp -d); \
	trap 'git worktree remove --force $$tree; rm -rf $$tree' EXIT; \
	git worktree add -q --detach $$tree $(REF); \
	for round in 1 2 3 4 5; do \
	  $(MAKE) -s -C $$tree bench BENCHTIME=$(BENCHTIME) >>$$tree/old.txt; \
	  $(MAKE) -s bench BENCHTIME=$(BENCHTIME) >>$$tree/new.txt; \
	done; \
	go tool benchstat $$tree/old.txt $$tree/new.txt

cover: ## coverage by function
	go test -coverpkg=./... -coverprofile=coverage.out ./... && go tool cover -func=coverage.out | tail -1

check: lint test race build ## all that must pass

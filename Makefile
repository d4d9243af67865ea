# make up       builds bin/ken and runs ken up on this repository
# make build    bin/ken, one static binary
# make check    format, vet, linters, quick tests and import rules: a reflex
# make test     everything, from a bare machine on: what CI runs
# make e2e      the end-to-end scripts alone
# make spec     ken's own specs, linted and gated by ken
# make bench    ken against git and md5sum, one table
# make fuzz     every fuzz target for FUZZTIME, then random lives with LIVES operations
# make screenshots  the pictures of the dashboard in docs/screenshots
# make release  dist/: archives for every platform, checksums, install.sh
# make fmt      rewrite the sources the way check wants them

# Everything is built with these flags, so nothing is compiled twice. The tags link
# only the grammars that outlines need: without them ken works the same, but is twice
# as large and starts more slowly.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath -tags=$(file < internal/outline/syntax/tags)

VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS  := -s -w -X ken/internal/app.Version=$(VERSION)
GOBUILD  := go build -buildvcs=false -ldflags '$(LDFLAGS)'
PORTS    := windows/amd64 darwin/arm64 linux/arm64
INSIDE   := $$(go list ./... | grep -v '^ken/e2e')
FUZZTIME ?= 10s
LIVES    ?= 10000
BENCH    ?=

# Built from source once per machine, for all clones. The path has the versions of the
# linters and of Go: linters that an older Go built refuse newer sources. They stay out of
# go.mod: ken does not depend on its linters.
LINT_VERSION := v2.14.0
CACHE        := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/ken
LINT         := $(CACHE)/golangci-lint-$(LINT_VERSION)-$(shell go env GOVERSION)/golangci-lint

.PHONY: up build check test bench fuzz screenshots release fmt clean setup sources format vet lint quick race whole study e2e cross static spec

up: build
	bin/ken up

build:
	$(GOBUILD) -o bin/ken ./cmd/ken

check: sources quick study

test: setup
	$(MAKE) sources
	$(MAKE) race
	$(MAKE) whole
	$(MAKE) study
	$(MAKE) e2e
	$(MAKE) cross
	$(MAKE) static
	$(MAKE) spec

bench:
	go run ./bench $(BENCH)

fuzz:
	bash scripts/fuzz $(FUZZTIME) $(LIVES)

screenshots:
	mkdir -p docs/screenshots
	go test ./e2e/browser -count=1 -run '^TestScreenshots$$' -screenshots $(CURDIR)/docs/screenshots

release:
	go run ./release -version $(VERSION) -o dist

fmt: $(LINT)
	$(LINT) fmt

clean:
	rm -rf bin dist

setup:
	@bash scripts/setup

# What is checked without running a test.
sources: format vet lint

format: $(LINT)
	$(LINT) fmt --diff

vet:
	go vet ./...
	go -C study vet ./...

lint: $(LINT)
	$(LINT) run --allow-parallel-runners
	cd study && $(LINT) run --allow-parallel-runners

# The sources are vetted before. The time limit turns a hang into a failure; it is no judge of speed: machines are busy.
GOTEST   := go test -vet=off -timeout 30m
quick:
	$(GOTEST) -short $(INSIDE)

# The detector makes code ten times as slow. These packages compute long, or kill processes at every
# write, which have no races to show: under the detector their tests are short and try few random
# cases; without it, they run whole.
LONG     := ./internal/store/local ./internal/store/sqlite ./internal/outline ./internal/ken
race:
	CGO_ENABLED=1 $(GOTEST) -race $$(go list $(INSIDE) | grep -vxF "$$(go list $(LONG))")
	CGO_ENABLED=1 $(GOTEST) -race -short -skip 'KilledAtEveryWrite|FullDisk' $(LONG)

whole:
	$(GOTEST) $(LONG)

# The studies are a module of their own.
study:
	cd study && $(GOTEST) ./...

# They start a ken that they build, of which go test's cache knows nothing.
e2e:
	$(GOTEST) -count=1 ./e2e/...

cross:
	@for port in $(PORTS); do \
		echo "build $$port"; \
		GOOS=$${port%/*} GOARCH=$${port#*/} $(GOBUILD) -o /dev/null ./cmd/ken || exit 1; \
	done

static: build
	@go version -m bin/ken | grep -q 'CGO_ENABLED=0' || { echo 'bin/ken was built with cgo'; exit 1; }
	@if ldd bin/ken >/dev/null 2>&1; then echo 'bin/ken is not static'; ldd bin/ken; exit 1; fi
	@echo 'bin/ken is static'

spec: build
	@bash scripts/spec

$(LINT):
	GOBIN=$(abspath $(@D)) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

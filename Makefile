# rdmagate: everything there is to do.
#
#   make demo               real bytes under admission control; FABRIC=auto|verbs|sim
#   make test               everything that CI checks
#   make unit race guest    parts of it
#   make bench              the benchmarks, with ratios to floors of the same run
#   make experiments        cost, congestion and dead pairs on real verbs, at length
#   make fuzz               every fuzz target for FUZZTIME=10m, one after the other
#   make mutants            faults put into the core one at a time: do the tests see them?
#   make generate           String methods, documentation pages, the list of the exported API

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := test

GO      ?= go
FABRIC  ?= auto
FUZZTIME ?= 10m
GUEST   := bin/guestexec
GUESTED := ./internal/softroce ./internal/labverbs ./verbs ./rail/discover ./examples/doctor ./examples/engine/transfer ./examples/engine/fabric/verbsfabric
# in-guest runs the tests of a pattern in a guest with so many NICs on each side and a limit
# for each package. Its kernel can lock up under a storm of retries: such a guest is
# given up, and one more tried.
in-guest = $(GO) test -tags guest -count 1 -p 1 -timeout 30m -run '$(2)' -exec "$(CURDIR)/$(GUEST) -nics $(1) -timeout $(4) -tries 2" $(3)
LINT    := $(GO) tool -modfile=internal/tools/go.mod staticcheck
PACKAGE := $(shell $(GO) list -m)
# Modules of their own, for what the library itself does not need.
NESTED  := bench internal/linear internal/mutants examples/metrics examples/replay
TESTED  := internal/linear internal/mutants examples/metrics examples/replay
# each runs a go command in every module of a list.
each = @for m in $(1); do (set -x; $(GO) -C $$m $(2)); done

.PHONY: test demo deps format vet lint generate generated unit race pure guest chaos bench experiments fuzz mutants clean

test: deps format vet lint generated pure unit race guest chaos
	@echo "all checks passed"

# The example engine. Without RDMA devices it brings a guest that has some; where
# that is not to be had, the fabric is simulated.
demo:
	@case "$(FABRIC)" in auto|verbs|sim) ;; *) echo "FABRIC=$(FABRIC) is unknown; use auto, verbs or sim"; exit 2;; esac
	@mkdir -p bin
ifeq ($(FABRIC),sim)
	CGO_ENABLED=0 $(GO) build -o bin/engine ./examples/engine
else
	$(GO) run ./internal/softroce/cmd/guestsetup -packages-only || echo "demo: going on without those packages"
	$(GO) build -o bin/engine ./examples/engine || CGO_ENABLED=0 $(GO) build -o bin/engine ./examples/engine
endif
	bin/engine demo -fabric $(FABRIC)

# Debian packages: headers for cgo, what the guest needs, a browser for the page of top.
deps:
	$(GO) run ./internal/softroce/cmd/guestsetup -packages-only chromium

format:
	@bad=$$(gofmt -l .); test -z "$$bad" || { echo "not gofmt'd (run gofmt -w .):"; echo "$$bad"; exit 1; }

vet:
	$(GO) vet ./...
	$(GO) vet -tags rdmagate_off ./cc
	$(GO) vet -tags guest ./...
	$(call each,$(NESTED),vet ./...)
	$(GO) -C bench vet -tags rdmagate_off ./arms

lint:
	$(LINT) ./...
	$(LINT) -tags guest ./...
	$(call each,$(NESTED),tool -modfile="$(CURDIR)/internal/tools/go.mod" staticcheck ./...)

# The exported API comes last: it has what the other generators wrote.
generate:
	$(GO) generate ./...
	$(GO) generate ./internal/api

# Generated files are those that the generators make now.
generated: generate
	@git diff --exit-code --stat -- '*_string.go' classify/MATRICES.md internal/scenario/SCENARIO.md internal/api/exported || { echo "generated files differ: commit what make generate wrote"; exit 1; }

# Pure Go packages build everywhere, and the rest has stubs.
pure:
	$(GO) mod tidy -diff
	$(call each,$(NESTED),mod tidy -diff)
	CGO_ENABLED=0 $(GO) build ./...
	CGO_ENABLED=0 GOOS=darwin $(GO) vet ./...

unit:
	$(GO) test ./...
	$(GO) test -tags rdmagate_off ./cc
	$(call each,$(TESTED),test ./...)

race:
	$(GO) test -race -short ./...
	$(call each,internal/linear examples/metrics,test -race -short ./...)

# Tests on real verbs, in a guest with Soft-RoCE devices. One guest at a time.
guest: $(GUEST)
	$(call in-guest,2,Guest,$(GUESTED),5m)
	$(call in-guest,4,GuestIncast|GuestObserve,./internal/labcongestion,5m)

# Faults of all kinds on the engine: 200 seeds in simulation, three minutes on real verbs.
# The long forms: go -C bench run ./chaos -fabric sim -seeds 10000, or -fabric guest -run 30m.
chaos:
	$(GO) -C bench run ./chaos -fabric sim -seeds 200 -out "$(CURDIR)/bin/chaos-sim"
	$(GO) -C bench run ./chaos -fabric guest -run 3m -out "$(CURDIR)/bin/chaos-guest"

# What needs a quiet machine: the windows hold a queue and follow a rate, repaired pairs
# come back in time. Then the reports, with plots, in bin. About fifty minutes.
experiments: $(GUEST)
	$(call in-guest,4,Guest,./internal/labcongestion,12m)
	$(call in-guest,5,Guest,./internal/twohost,12m)
	$(GO) -C bench run ./arms -out "$(CURDIR)/bin/arms"
	$(GO) -C bench run ./congestion -out "$(CURDIR)/bin/congestion"
	$(GO) -C bench run ./rails -out "$(CURDIR)/bin/rails"

# What a target finds is written to its testdata/fuzz: mend the fault, keep the file.
fuzz:
	@grep -rHoE --include='*_test.go' '^func Fuzz[A-Za-z]+' . | sed -E 's|/[^/]*:func | |' | sort | while read -r dir name; do \
		echo "== $$dir $$name, $(FUZZTIME)"; \
		$(GO) test "$$dir" -run '^$$' -fuzz "^$$name$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5x || exit 1; \
	done

# Half an hour. Survivors are told with their reasons, which internal/mutants keeps.
mutants:
	$(GO) -C internal/mutants run . -out "$(CURDIR)/bin/mutants"

$(GUEST): FORCE
	@mkdir -p bin
	$(GO) build -o $@ ./internal/softroce/cmd/guestexec

# Ratios to floors and to peers, all measured in one run; see the report in bin.
bench:
	$(GO) -C bench test ./...
	$(GO) -C bench run ./admission -out "$(CURDIR)/bin/admission"

clean:
	rm -rf bin

FORCE:

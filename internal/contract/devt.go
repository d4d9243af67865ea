package contract

import (
	"path"
	"slices"
	"strings"
	"sync"
)

var devtContract = sync.OnceValue(newDevt)

var devtRootContract = sync.OnceValue(func() *Contract {
	c := newDevt()
	c.instances = true
	return c
})

// devtPhases are the phases of devt that the default contract lacks.
var devtPhases = []string{
	"scope_check", "partition_lanes", "dispatch_lanes", "substance_check_lanes", "redispatch_lanes", "consolidate",
	"present_findings",
}

// InstanceEnv is the environment variable with the id of a session of devt. Each session has a
// directory with this name in .devt/state.
const InstanceEnv = "DEVT_WORKFLOW_ID"

// IsInstanceID reports whether devt takes s for the id of a session.
func IsInstanceID(s string) bool {
	const legal = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	return s != "" && len(s) <= 64 && strings.Trim(s, legal) == ""
}

// IsInstance reports whether a directory of that name may belong to a session of devt. devt
// registers not all of them, so the name decides.
func (c *Contract) IsInstance(name string) bool {
	_, listed := c.File(name)
	return c.instances && !listed && IsInstanceID(name)
}

// IsDevt reports whether a directory, a path with slashes, is .devt/state or in it.
func IsDevt(dir string) bool {
	return strings.Contains("/"+path.Clean(dir)+"/", "/.devt/state/")
}

// IsDevtRoot reports whether a directory, a path with slashes, is .devt/state, which the
// sessions share.
func IsDevtRoot(dir string) bool {
	return strings.HasSuffix("/"+path.Clean(dir), "/.devt/state")
}

// newDevt returns the default contract with the names of devt, version 0.244, that it
// lacks.
func newDevt() *Contract {
	c := newDefault()

	c.group("devt", "Files of devt",
		file(".instances", "devt", "The register of sessions", directory, exempt),
		file("threads", "devt", "Threads across sessions", directory, exempt),
		file("project", "the project", "Files of the project itself", directory, exempt),
		file("hook-trace", "hooks", "The calls of hooks", directory, exempt),
		file("lane-files", "devt", "The files of each review lane", directory),
		file("gate-trace.jsonl", "gates", "The decisions of gates", log, exempt),
		file("workflow-id-rotations.jsonl", "devt", "The changes of the workflow id", log, exempt),
		file("lane-status-overrides.jsonl", "devt", "The verdicts on lanes that a person changed, with reasons",
			log, exempt),
		file("claim-checks.jsonl", "gates", "The claims of agents that were checked", log),
		file("subagent-events.jsonl", "hooks", "The starts and stops of agents", log),
		file("dispatch-stamps.jsonl", "devt", "The agents that were dispatched", scoped),
		file("status.json", "hooks", "The agents that are running"),
		file("acceptance-criteria.json", "verifier", "The criteria of all verification passes",
			requires("criteria"), recommends("derived_at", "workflow_id")),
		file("evolution-report.md", "architecture scan", "Report on the history: hotspots, files that change together"),
		file("evolution-report.json", "architecture scan", "The same for programs"),
		file("review-depth.txt", "orchestrator", "The size of the change under review", scoped),
		file("partition-degraded.txt", "devt", "The reason why the review has other lanes than planned", scoped),
		file("lane-unassigned.txt", "devt", "The files under review that are in no lane"),
		file("lane-snapshot.json", "devt", "The hashes of the lanes' files before they are merged"),
	)

	c.Patterns = append(c.Patterns, []Pattern{
		pattern(`lane-diff-L[0-9]+\.txt`, "lane-diff-L1.txt", "The change that one lane reviews", Scoped, ""),
		pattern(`review-lane-`+variant+`\.json`, "review-lane-L1.json", "The findings of one lane for programs", Scoped, ""),
		pattern(`rubric-[a-z_]+\.md`, "rubric-code_review.md", "A copy of the rubric that agents grade by", Stays, ""),
		pattern(`[a-z][a-z0-9-]*\.archive-[0-9A-Za-z:.-]+\.jsonl`, "claim-checks.archive-2026-01-01T00-00-00.000Z.jsonl",
			"An older part of a log", Stays, ""),
		pattern(`[a-z][a-z0-9]*(-[a-z0-9]+)+-summary\.md`, "py3-upgrade-summary.md", "A summary of another topic", Stays, ""),
	}...)

	c.Keys = append(c.Keys, keys(String, "complexity", "scan_id")...)

	// These values are added to those of the default contract.
	for _, name := range []string{
		"research.md", "debug-summary.md", "arch-review.md", "docs-summary.md", "curation-summary.md",
	} {
		must(c.addFile(file(name, "", "", status("PARTIAL")), nil))
	}
	must(c.addKey(Key{Name: "phase", Enum: devtPhases}, nil))
	phase := slices.IndexFunc(c.Keys, func(k Key) bool { return k.Name == "phase" })
	c.Keys[phase].Open = true // devt only warns, and gets new phases
	return c
}

// must panics if the contract of devt is wrong. A test reads it.
func must(err error) {
	if err != nil {
		panic("contract: " + err.Error())
	}
}

package arch

import "slices"

// The layers, bottom to top. A package stands in exactly one, under its path
// below internal/.
var (
	words     = []string{"repo", "fault", "suggest", "fresh", "model", "outline", "outline/syntax", "allow", "store", "project"}
	decisions = []string{"registry", "survey", "surveyrun", "contract", "workflow", "spec", "githook", "docs", "prove", "board", "install", "agenthook", "share", "uses", "find", "brief", "review", "attention"}
	// Facts are below the features (decisions): a feature may use their concrete types,
	// since one open repository serves all features and needs no second description.
	facts = []string{
		"atomicfile", "env", "cache", "git", "content", "state", "model/provider", "searchindex",
		"store/local", "store/sqlite", "store/postgres", "store/memory", "store/team",
	}
	// These are above the features, since they put them together: the settings of all
	// features, and a queue of survey runs.
	assembled = []string{"config", "queue"}
	screen    = []string{"term"}
	faces     = []string{"cli", "mcp", "web"}
	assembly  = []string{"app"}
	helpers   = []string{"testrepo", "testcost", "arch", "store/storetest", "model/modeltest", "pgtest", "queue/queuetest"}
)

// readers are the facts that features may import: how the repository is read, and where
// answers about it are cached.
var readers = []string{"git", "content", "cache"}

// imports says what of ken each package may import. What is not listed, it may
// not: faces import features and no facts, facts import no feature.
// Widening it is a design decision and comes with a sentence.
var imports = func() map[string][]string {
	m := make(map[string][]string)
	for _, p := range words {
		m[p] = nil
	}
	m["fresh"] = []string{"repo", "fault"}
	// What a configuration may contact is refused with a hint.
	m["allow"] = []string{"fault"}
	// What a grammar sees follows from a name and bytes alone, and every decision
	// about what moved is made with it.
	m["outline"] = []string{"repo", "fault", "fresh", "outline/syntax"}
	// project reads manifests and documents that its caller passes; any feature may ask it how a path is tested.
	m["project"] = []string{"repo"}
	// store is types and interfaces of what is stored: features use them, engines implement them.
	m["store"] = []string{"repo", "fault", "fresh", "outline"}
	for _, p := range decisions {
		m[p] = join(words, readers)
	}
	// A feature sits above the facts that it works on: the verbs of a workflow change a
	// state directory by its contract.
	m["workflow"] = join(words, readers, []string{"contract", "state"})
	// Share exchanges records of files and of the survey through git.
	m["share"] = join(words, readers, []string{"survey"})
	// Find ranks what the search index matches, and says who uses it and how it is tested.
	m["find"] = join(words, readers, []string{"searchindex", "uses"})
	// Brief tells what the search index knows about a place, and in which languages ken follows uses.
	m["brief"] = join(words, []string{"searchindex", "uses"})
	// Review puts together what documents, specs and the search index say about a change.
	m["review"] = join(words, []string{"searchindex", "uses", "find", "docs", "spec"})
	// What many workers share is a survey.
	m["surveyrun"] = join(words, readers, []string{"survey"})
	m["board"] = without(without(join(words, readers, decisions), "board"), "attention")
	// Attention judges what the board and the command line read.
	m["attention"] = without(join(words, readers, decisions), "attention")
	for _, p := range facts {
		m[p] = join(words, []string{"atomicfile", "env"})
	}
	for _, p := range assembled {
		m[p] = join(words, decisions, []string{"atomicfile", "env"})
	}
	m["env"] = []string{"fault"} // every fact that waits reads how long from it
	m["atomicfile"] = nil        // every fact that keeps files replaces them with it
	// local opens the database of a clone, or the spool while that is read-only.
	m["store/local"] = join(words, []string{"atomicfile", "env", "store/sqlite"})
	// team keeps the store of a clone in step with the database of a team.
	m["store/team"] = join(words, []string{"atomicfile", "env", "store/postgres"})
	m["term"] = words
	for _, p := range faces {
		m[p] = join(words, decisions)
	}
	m["cli"] = join(words, decisions, screen)
	// Agents read the lines that the command line prints.
	m["mcp"] = join(words, decisions, screen)
	m["app"] = join(words, decisions, facts, assembled, screen, faces)
	m["testrepo"] = nil
	m["testcost"] = nil
	m["arch"] = nil
	// storetest compares every engine with the memory store.
	m["store/storetest"] = join(words, []string{"store/memory"})
	// It plays a provider in the words that providers are spoken to in, and knows
	// nothing of ours: what it shared with provider, it could not try.
	m["model/modeltest"] = words
	m["pgtest"] = nil
	m["queue/queuetest"] = join(words, []string{"survey"})
	return m
}()

// outside is the same for the packages that are not under internal/.
var outside = map[string][]string{
	"cmd/ken": {"app"},
	// It knows ken by its command line, but for the store of a team: what is held
	// against COPY is the writing alone, and a base is filled with what a team would
	// have written. Workers need a model to ask.
	"bench": join(words, []string{"registry", "survey", "share", "surveyrun", "store/postgres", "queue", "queue/queuetest", "pgtest", "model/modeltest"}),
	// Manual pages and completions are made of the commands themselves.
	"release": {"cli"},
	// These start the built program, as its users do.
	"e2e":         nil,
	"e2e/browser": nil,
	"e2e/lives":   nil,
}

// inTests is what test files may import beyond their package's own row: the
// helpers, and the memory store, which is our fake.
var inTests = join(helpers, []string{"store/memory"})

// realParts is what the tests of a package may import besides, since the real
// thing is as quick as a fake would be, or the fake is held against it: the model
// of a history is one that git tells, as is what clones share. What a
// played model says to the built program is written in the words of a conversation. The
// end-to-end tests walk the tree of commands to run the examples of each.
var realParts = map[string][]string{"spec": {"git"}, "git": {"registry"}, "share": {"git"}, "e2e": {"model", "cli"}, "store/team": {"store/local"}}

// pure is what the words and the decisions keep out, each with everything below
// it: no process, no SQL, no socket, no disk. Clocks are kept out call by call.
var pure = []string{"os", "io/ioutil", "net", "syscall", "database", "plugin", "golang.org/x/sys", "path/filepath"}

// clocks are the functions of package time by which a decision would learn what
// time it is, or wait. It is told the time instead.
var clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// doors are the packages through which ken reaches something outside itself, and
// who holds the key. A door covers everything below it; test files may pass.
var doors = map[string][]string{
	// git is a program, and a program may be the model that the user has.
	"os/exec":                                {"git", "model/provider", "testrepo", "pgtest", "bench", "release"},
	"zombiezen.com/go/sqlite":                {"store/sqlite", "searchindex"},
	"modernc.org":                            {"store/sqlite", "searchindex"},
	"database/sql":                           {},
	"github.com/jackc":                       {"store/postgres", "queue", "pgtest", "bench"},
	"github.com/riverqueue":                  {"queue", "bench"},
	"golang.org/x/tools":                     {"bench"}, // its type checker judges ken's edges
	"github.com/spf13":                       {"cli", "release"},
	"github.com/modelcontextprotocol/go-sdk": {"mcp"},
	"testing":                                helpers,
	"github.com/odvcencio/gotreesitter":      {"outline/syntax"},
	"github.com/agnivade/levenshtein":        {"suggest"},
	"github.com/fsnotify/fsnotify":           {"content"},
	"github.com/tailscale/hujson":            {"install", "project", "uses"}, // tsconfig.json has comments
	"github.com/yuin/goldmark":               {"docs", "web"},
	"github.com/pelletier/go-toml":           {"install", "project", "uses"}, // pyproject.toml and Cargo.toml say where modules are
	"github.com/rogpeppe/go-internal":        {},
	"github.com/google/go-cmp":               {"store/storetest"},
	"pgregory.net/rapid":                     {"store/storetest"},
	"go.uber.org/goleak":                     {},
}

func join(lists ...[]string) []string { return slices.Concat(lists...) }

func without(list []string, out string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == out })
}

package arch

import "slices"

// The layers, from bottom to top. Every package is in exactly one, with its path below internal/.
var (
	types    = []string{"repo", "fault", "suggest", "fresh", "model", "outline", "outline/syntax", "allow", "store", "project"}
	features = []string{"registry", "survey", "surveyrun", "contract", "workflow", "spec", "githook", "docs", "prove", "board", "install", "agenthook", "share", "uses", "find", "brief", "review", "attention"}
	// Facts are below the features. A feature may use their concrete types.
	facts = []string{
		"atomicfile", "env", "cache", "git", "git/config", "git/index", "git/history", "content", "state", "model/provider", "searchindex",
		"store/local", "store/sqlite", "store/postgres", "store/memory", "store/team",
	}
	// These combine features: the settings of all features, and a queue of survey runs.
	assembled = []string{"config", "queue"}
	screen    = []string{"term"}
	faces     = []string{"cli", "mcp", "web"}
	assembly  = []string{"app"}
	helpers   = []string{"testrepo", "testcost", "arch", "store/storetest", "model/modeltest", "pgtest", "queue/queuetest"}
)

// readers are the facts that features may import. They read the repository and cache answers.
var readers = []string{"git", "content", "cache"}

// imports lists for each package which packages of ken it may import. Faces import features and no facts. Facts import
// no features. To allow another import is a design decision; add a comment with the reason.
var imports = func() map[string][]string {
	m := make(map[string][]string)
	for _, p := range types {
		m[p] = nil
	}
	m["fresh"] = []string{"repo", "fault"}
	// allow refuses addresses with a hint.
	m["allow"] = []string{"fault"}
	// outline depends only on the name and the bytes of a file. Features use it to grade changes.
	m["outline"] = []string{"repo", "fault", "fresh", "outline/syntax"}
	// project reads manifests and documents that its caller passes; any feature may ask it how a path is tested.
	m["project"] = []string{"repo"}
	// store has the stored types and the interfaces that the engines implement.
	m["store"] = []string{"repo", "fault", "fresh", "outline"}
	for _, p := range features {
		m[p] = join(types, readers)
	}
	// A workflow changes a state directory by its contract.
	m["workflow"] = join(types, readers, []string{"contract", "state"})
	// Share exchanges records of files and of the survey through git.
	m["share"] = join(types, readers, []string{"survey"})
	// Find ranks what the search index matches, and says who uses it and how it is tested.
	m["find"] = join(types, readers, []string{"searchindex", "uses"})
	// Brief tells what the search index knows about a place, and in which languages ken follows uses.
	m["brief"] = join(types, []string{"searchindex", "uses"})
	// Review puts together what documents, specs and the search index say about a change.
	m["review"] = join(types, []string{"searchindex", "uses", "find", "docs", "spec"})
	// Surveyrun shares a survey among workers.
	m["surveyrun"] = join(types, readers, []string{"survey"})
	m["board"] = without(without(join(types, readers, features), "board"), "attention")
	// Attention lists what the board and the command line found.
	m["attention"] = without(join(types, readers, features), "attention")
	for _, p := range facts {
		m[p] = join(types, []string{"atomicfile", "env"})
	}
	for _, p := range assembled {
		m[p] = join(types, features, []string{"atomicfile", "env"})
	}
	m["env"] = []string{"fault"} // facts read timeouts with it
	m["atomicfile"] = nil        // facts replace files with it
	// git reads a repository. The packages below it parse what git has read, without I/O.
	m["git"] = join(types, []string{"atomicfile", "env", "git/config", "git/index", "git/history"})
	m["git/config"] = nil
	m["git/index"] = []string{"repo"}
	m["git/history"] = []string{"repo"}
	// local opens the database of a clone, or the spool while that is read-only.
	m["store/local"] = join(types, []string{"atomicfile", "env", "store/sqlite"})
	// team exchanges records between the store of a clone and the database of a team.
	m["store/team"] = join(types, []string{"atomicfile", "env", "store/postgres"})
	m["term"] = types
	for _, p := range faces {
		m[p] = join(types, features)
	}
	m["cli"] = join(types, features, screen)
	// Agents read the lines that the command line prints.
	m["mcp"] = join(types, features, screen)
	m["app"] = join(types, features, facts, assembled, screen, faces)
	m["testrepo"] = nil
	m["testcost"] = nil
	m["arch"] = nil
	// storetest compares every engine with the memory store.
	m["store/storetest"] = join(types, []string{"store/memory"})
	// modeltest is a provider for tests. It does not import model/provider, so that it can find mistakes in it.
	m["model/modeltest"] = types
	m["pgtest"] = nil
	m["queue/queuetest"] = join(types, []string{"survey"})
	return m
}()

// outside is the same table for the packages that are not below internal/.
var outside = map[string][]string{
	"cmd/ken": {"app"},
	// bench runs the program. It also measures the store of a team directly, compares it with COPY, and fills
	// databases with generated records. Its workers use a model for tests.
	"bench": join(types, []string{"registry", "survey", "share", "surveyrun", "store/postgres", "queue", "queue/queuetest", "pgtest", "model/modeltest"}),
	// release generates manual pages and completions from the commands.
	"release": {"cli"},
	// These tests run the built program.
	"e2e":         nil,
	"e2e/browser": nil,
	"e2e/lives":   nil,
}

// inTests lists the packages that all test files may import: the helpers, and the memory store as a fake.
var inTests = join(helpers, []string{"store/memory"})

// realParts lists what the tests of a package may import in addition, because the real package is as fast as a fake, or
// because a test compares the fake with it. The end-to-end tests write the replies of a test model with types of
// model, and run the examples of every command of cli.
var realParts = map[string][]string{"spec": {"git"}, "git": {"registry"}, "share": {"git"}, "e2e": {"model", "cli"}, "store/team": {"store/local"}}

// pure lists the packages that types and features must not import, with all packages below them: no processes, SQL,
// sockets or files. TestNoClockInFeatures checks for clocks.
var pure = []string{"os", "io/ioutil", "net", "syscall", "database", "plugin", "golang.org/x/sys", "path/filepath"}

// clocks are the functions of package time that features must not call, since they return the time or wait.
var clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// restricted lists libraries that only some packages may import, with all packages below them. Test files may import
// them.
var restricted = map[string][]string{
	// ken runs git, and the user's model may be a program.
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

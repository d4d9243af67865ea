package arch

import "slices"

// The layers, from bottom to top. Every package is in exactly one, with its path below internal/.
var (
	types    = []string{"repo", "fault", "english", "order", "enum", "suggest", "fresh", "model", "outline", "outline/syntax", "store", "shell", "manifest", "markup", "project"}
	features = []string{"registry", "tree", "survey/excerpt", "survey/describe", "survey", "surveyrun", "contract", "workflow", "spec/parse", "spec/derive", "spec", "githook", "docs/mention", "docs", "board", "install", "agenthook", "share", "uses", "find", "change", "usage", "brief", "review", "attention", "summary"}
	// Facts are below the features. A feature may use their concrete types.
	facts = []string{
		"atomicfile", "env", "cache", "git", "git/command", "git/objects", "git/remerge", "git/config", "git/index", "git/history", "content", "state", "model/provider", "searchindex", "config",
		"store/local", "store/sqlite", "store/postgres", "store/team", "permission", "workspace", "session",
	}
	// These combine features, such as a queue of survey runs. Others read and write the files that a feature decides about.
	assembled = []string{"ken", "queue", "install/disk", "githook/messagefile", "statedir", "worker"}
	screen    = []string{"term"}
	faces     = []string{"cli", "mcp", "web"}
	assembly  = []string{"app", "dashboard"}
	helpers   = []string{"testrepo", "testcost", "arch", "store/storetest", "model/modeltest", "pgtest", "queue/queuetest"}
)

// readers are the facts that features may import. They read the repository and cache answers. Config decodes the
// section with the settings of a feature.
var readers = []string{"workspace", "git", "content", "cache", "config"}

// imports lists for each package which packages of ken it may import. Faces import features and no facts. Facts import
// no features. To allow another import is a design decision; add a comment with the reason.
var imports = func() map[string][]string {
	m := make(map[string][]string)
	for _, p := range types {
		m[p] = nil
	}
	// The kinds of files and the verdicts are enumerations.
	m["repo"] = []string{"enum"}
	m["fresh"] = []string{"repo", "fault", "enum"}
	// outline depends only on the name and the bytes of a file. Features use it to grade changes.
	m["outline"] = []string{"repo", "fault", "fresh", "outline/syntax"}
	// manifest parses the content of files that its caller passes.
	m["manifest"] = nil
	// markup parses the content of documents that its caller passes.
	m["markup"] = nil
	// project reads manifests and documents that its caller passes; any feature may ask it how a path is tested.
	// It quotes words as hints do.
	m["project"] = []string{"repo", "fault", "order", "manifest", "markup", "shell"}
	// store has the stored types and the interfaces that the engines implement.
	m["store"] = []string{"repo", "fault", "fresh", "outline"}
	for _, p := range features {
		m[p] = join(types, readers)
	}
	// Parse reads spec files that its caller passes. Derive computes facts about them, and spec answers with both.
	m["spec/parse"] = types
	m["spec/derive"] = join(types, readers, []string{"spec/parse"})
	m["spec"] = join(types, readers, []string{"spec/parse", "spec/derive"})
	// Tree lists the files that the registry verified.
	m["tree"] = join(types, readers, []string{"registry", "store/local"})
	// Survey opens the trees that it surveys, and records the summaries of files that agents write with a directory.
	m["survey"] = join(types, readers, []string{"registry", "tree", "survey/excerpt", "survey/describe"})
	// Describe writes the text about one directory, and survey decides which directories need one. Excerpt reads texts
	// that they pass.
	m["survey/describe"] = join(types, readers, []string{"survey/excerpt"})
	m["survey/excerpt"] = []string{"repo", "markup"}
	// docs/mention reads one document and knows nothing about the repository.
	m["docs/mention"] = []string{"repo", "shell", "markup", "outline"}
	// Docs judges the memories that session finds outside of the repository.
	m["docs"] = join(types, readers, []string{"docs/mention", "session"})
	// A workflow changes a state directory by its contract.
	m["workflow"] = join(types, readers, []string{"contract", "state"})
	// Findings list the permissions.
	m["install"] = join(types, readers, []string{"permission"})
	// Share exchanges records of files and of the survey through git. It saves how far it has read them
	// beside the store.
	m["share"] = join(types, readers, []string{"survey", "store/local"})
	// Find keeps the search index up to date and ranks what it matches. Usage says who uses a thing, from the same index.
	m["find"] = join(types, readers, []string{"searchindex", "uses", "tree"})
	// Change compares the tree of the index with an earlier one. Usage also finds what still uses what a change removed.
	m["change"] = join(types, readers, []string{"searchindex", "find"})
	m["usage"] = join(types, readers, []string{"searchindex", "uses", "find", "change"})
	// These put together what other features and the search index say: about a path, about a change, and to an agent.
	// Brief asks usage whether a file without users is mentioned anywhere.
	m["brief"] = join(types, readers, []string{"searchindex", "uses", "find", "usage", "tree", "registry", "spec", "survey", "survey/describe"})
	m["review"] = join(types, readers, []string{"searchindex", "uses", "find", "change", "usage", "tree", "registry", "spec", "survey", "docs", "docs/mention"})
	m["agenthook"] = join(types, readers, []string{"session", "tree", "registry", "spec", "survey", "docs"})
	m["summary"] = join(types, readers, []string{"tree", "registry", "survey"})
	// Surveyrun shares a survey among workers, and checks the texts about files by the limits of the registry.
	m["surveyrun"] = join(types, readers, []string{"survey", "survey/describe", "registry"})
	m["board"] = without(without(join(types, readers, features), "board"), "attention")
	// Attention selects from a board.
	m["attention"] = without(join(types, readers, features), "attention")
	for _, p := range facts {
		m[p] = join(types, []string{"atomicfile", "env"})
	}
	for _, p := range assembled {
		m[p] = join(types, features, []string{"atomicfile", "env"})
	}
	// install/disk reads and writes the files that install decides about, in the work tree and in the user's home.
	m["install/disk"] = join(types, []string{"install", "git", "content", "atomicfile"})
	// githook/messagefile changes the message file of a commit as githook decides.
	m["githook/messagefile"] = join(types, []string{"githook", "git", "atomicfile"})
	// queue hands out directories on the server of a team. The store says which rights a role lacks there.
	m["queue"] = join(m["queue"], []string{"store/postgres"})
	// statedir opens a state directory with the contract and the configuration of its repository.
	m["statedir"] = join(types, []string{"ken", "config", "contract", "workflow", "state", "git"})
	// ken puts all features together over one repository, for the faces.
	m["ken"] = join(types, features, facts)
	// worker opens repositories, models and the team's database for the runs of queue. The command line and the board use it.
	m["worker"] = join(types, features, facts, []string{"ken", "queue"})
	m["config"] = types
	m["env"] = []string{"fault"} // facts read timeouts with it
	m["atomicfile"] = nil        // facts replace files with it
	// git reads a repository, and caches who made the content of merged files. git/command runs git, git/objects reads
	// objects with it, git/remerge repeats merges, and the others parse what git has read, without I/O.
	m["git"] = join(types, []string{"atomicfile", "cache", "git/command", "git/objects", "git/remerge", "git/config", "git/index", "git/history"})
	m["git/command"] = []string{"env", "fault"}
	m["git/objects"] = []string{"repo", "git/command"}
	m["git/remerge"] = []string{"repo", "git/command", "git/objects"}
	m["git/config"] = nil
	m["git/index"] = []string{"repo"}
	m["git/history"] = []string{"repo"}
	// local opens the database of a clone, or the spool while that is read-only.
	m["store/local"] = join(types, []string{"atomicfile", "env", "store/sqlite"})
	// permission compares the addresses in the configuration with what the user allowed. It stores the permissions
	// itself, beside no store, so that the stores can tell a refused address.
	m["permission"] = join(types, []string{"atomicfile", "model/provider", "store/postgres"})
	// team exchanges records between the store of a clone and the database of a team. The root commit names the
	// repository there.
	m["store/team"] = join(types, []string{"atomicfile", "env", "store/postgres", "git", "permission"})
	// workspace is one open repository, which all features share.
	m["workspace"] = join(types, []string{"git", "content", "cache", "store/local"})
	m["term"] = types
	// It opens repositories, runs and state directories, and prints permissions.
	m["cli"] = join(types, features, screen, []string{"ken", "worker", "statedir", "atomicfile", "permission"})
	// Agents read the lines that the command line prints.
	m["mcp"] = join(types, features, screen, []string{"ken"})
	// Pages read the repository that app opens for a request.
	m["web"] = join(types, features, []string{"ken"})
	m["app"] = join(types, features, facts, assembled, screen, faces, []string{"dashboard"})
	// dashboard reads fingerprints, documents, the port and the token for web.
	m["dashboard"] = join(types, features, []string{"git", "content", "store/local", "atomicfile", "config", "statedir", "web"})
	m["testrepo"] = nil
	m["testcost"] = nil
	m["arch"] = nil
	m["store/storetest"] = types
	// modeltest is a provider for tests. It does not import model/provider, so that it can find mistakes in it.
	m["model/modeltest"] = types
	m["pgtest"] = nil
	m["queue/queuetest"] = join(types, []string{"survey"})
	return m
}()

// outside is the same table for the packages that are not below internal/.
var outside = map[string][]string{
	"cmd/ken": {"app"},
	// bench runs the program.
	"bench": nil,
	// release generates manual pages and completions from the commands.
	"release": {"cli"},
	// These tests run the built program. One of them reads the commands that it prints as a shell does.
	"e2e":         {"shell"},
	"e2e/browser": nil,
	"e2e/lives":   nil,
}

// inTests lists the packages that all test files may import: the helpers, and SQLite, whose stores in memory are as
// fast as a fake.
var inTests = join(helpers, []string{"store/sqlite"})

// realParts lists what the tests of a package may import in addition, because the real package is as fast as a fake, or
// because a test compares the fake with it. The end-to-end tests write the replies of a test model with types of
// model, and run the examples of every command of cli. The tests of mcp open a damaged repository. Those of
// spec/derive check that the linter obeys the same limits.
var realParts = map[string][]string{"spec/derive": {"spec"}, "mcp": {"workspace"}, "git": {"registry"}, "share": {"git"}, "e2e": {"model", "cli"}, "store/team": {"store/local"}}

// pure lists the packages that types and features must not import, with all packages below them: no processes, SQL,
// sockets or files. TestNoClockInFeatures checks for clocks.
var pure = []string{"os", "io/ioutil", "net", "syscall", "database", "plugin", "golang.org/x/sys", "path/filepath"}

// clocks are the functions of package time that features must not call, since they return the time or wait.
var clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// restricted lists libraries that only some packages may import, with all packages below them. Test files may import
// them.
var restricted = map[string][]string{
	// ken runs git, and the user's model may be a program.
	"os/exec":                                {"git/command", "model/provider", "testrepo", "pgtest", "bench", "release"},
	"zombiezen.com/go/sqlite":                {"store/sqlite", "searchindex"},
	"modernc.org":                            {"store/sqlite", "searchindex"},
	"database/sql":                           {},
	"github.com/jackc":                       {"store/postgres", "queue", "pgtest"},
	"github.com/riverqueue":                  {"queue"},
	"github.com/spf13":                       {"cli", "release"},
	"github.com/modelcontextprotocol/go-sdk": {"mcp"},
	"testing":                                helpers,
	"github.com/odvcencio/gotreesitter":      {"outline/syntax"},
	"github.com/agnivade/levenshtein":        {"suggest"},
	"github.com/fsnotify/fsnotify":           {"content"},
	"github.com/tailscale/hujson":            {"install", "manifest"}, // tsconfig.json has comments
	"mvdan.cc/sh":                            {"shell"},
	"github.com/yuin/goldmark":               {"markup", "web"},
	"github.com/pelletier/go-toml":           {"install", "manifest"}, // pyproject.toml and Cargo.toml say where modules are
	"golang.org/x/mod":                       {"manifest"},
	"github.com/rogpeppe/go-internal":        {},
	"github.com/google/go-cmp":               {"store/storetest"},
	"pgregory.net/rapid":                     {"store/storetest"},
	"go.uber.org/goleak":                     {},
}

func join(lists ...[]string) []string { return slices.Concat(lists...) }

func without(list []string, out string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == out })
}

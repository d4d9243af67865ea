package arch

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A budget limits the lines of a group of packages: of their Go files without tests, and of their data files.
type budget struct {
	packages []string // with all packages below them that no other budget names
	most     int      // lines today
	aim      int      // lines that are enough for what these packages do
}

// budgets holds the lines of today, so that no group grows by accident. Lower a number when its group got smaller.
// Raise it only for something that users need, or if the code would otherwise be harder to read, and say in the commit
// message why.
var budgets = []budget{
	{[]string{"outline"}, 10769, 7600},
	{[]string{"outline/syntax"}, 2869, 2500},
	{[]string{"uses"}, 5306, 4500},
	{[]string{"manifest", "project"}, 6486, 4000},
	{[]string{"find", "usage", "searchindex"}, 8833, 6300},
	{[]string{"docs", "shell", "markup"}, 9795, 7000},
	{[]string{"spec"}, 10244, 7400},
	{[]string{"git"}, 9992, 7900},
	{[]string{"content"}, 2134, 2100},
	{[]string{"store"}, 11199, 8300},
	{[]string{"contract", "state", "workflow", "statedir"}, 8591, 5600},
	{[]string{"registry"}, 4145, 3400},
	{[]string{"survey"}, 6577, 5900},
	{[]string{"queue", "worker", "surveyrun"}, 3444, 2200},
	{[]string{"brief", "change", "review", "summary"}, 7748, 5200},
	{[]string{"board", "attention", "dashboard"}, 2449, 2200},
	{[]string{"share"}, 1927, 1700},
	{[]string{"web"}, 5652, 5200},
	{[]string{"mcp"}, 2871, 2300},
	{[]string{"install", "githook", "agenthook"}, 4100, 3900},
	{[]string{"model"}, 3449, 2900},
	{[]string{"cli"}, 7837, 6600},
	{[]string{"bench", "release"}, 2463, 2450},
	{everythingElse, 7683, 6900},
}

// everythingElse is the group of the packages that no budget names.
var everythingElse = []string{"everything else"}

// dataFiles are the kinds of files that can hold what is otherwise a table in Go.
var dataFiles = []string{".yaml", ".yml", ".json", ".tsv", ".csv"}

// No group of packages has more lines than its budget.
func TestBudgets(t *testing.T) {
	lines := make(map[string]int) // by the first package of the group
	walk(t, func(name string) {
		if !isCounted(name) {
			return
		}
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		lines[groupOf(packageOf(name))] += len(linesOf(content))
	})
	sum := 0
	for _, b := range budgets {
		count := lines[b.packages[0]]
		sum += count
		group := list(b.packages)
		if testing.Verbose() {
			t.Logf("%6d lines, at most %6d, aim %5d: %s", count, b.most, b.aim, group)
		}
		if count > b.most {
			t.Errorf("%s: %d lines, %d more than the budget; delete or simplify something there, "+
				"or raise the number in internal/arch/budget_test.go and give the reason in the commit message",
				group, count, count-b.most)
		}
	}
	if testing.Verbose() {
		t.Logf("%6d lines together", sum)
	}
}

// isCounted reports whether the lines of a file count: those of Go without tests, and of data beside it that replaces
// Go. A JSON schema describes a format and replaces nothing.
func isCounted(name string) bool {
	if strings.HasPrefix(name, study) || strings.Contains(name, "/testdata/") {
		return false
	}
	if path.Ext(name) == ".go" {
		return !strings.HasSuffix(name, "_test.go")
	}
	top, _, _ := strings.Cut(name, "/")
	isData := slices.Contains(dataFiles, path.Ext(name)) && !strings.HasSuffix(name, ".schema.json")
	return isData && slices.Contains([]string{"internal", "cmd", "bench", "release"}, top)
}

// groupOf returns the first package of the budget that counts a package.
func groupOf(pkg string) string {
	for p := pkg; p != "."; p = path.Dir(p) {
		for _, b := range budgets {
			if slices.Contains(b.packages, p) {
				return b.packages[0]
			}
		}
	}
	return everythingElse[0]
}

package main

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestSplitWords(t *testing.T) {
	for text, want := range map[string]string{
		"HTTPServer_v2 parse":     "http server httpserverv2 parse",
		"getURLs x9 the 42":       "get ur ls geturls x9 42",
		"rate-limit per tenantID": "rate limit per tenant id tenantid",
		"naïve _private":          "na ve private",
		"add fix tests":           "",
	} {
		if got := strings.Join(splitWords(text), " "); got != want {
			t.Errorf("splitWords(%q) = %q, want %q", text, got, want)
		}
	}
}

// commitLog is what git log prints with -z and --name-only.
func commitLog(commits ...[]string) string {
	var log strings.Builder
	for _, c := range commits {
		log.WriteString("\x02" + c[0] + "\x00\n" + strings.Join(c[1:], "\x00") + "\x00")
	}
	return log.String()
}

func TestSelectTasks(t *testing.T) {
	files := strings.Fields("a.go b_test.go c.py README.md 1.go 2.go 3.go 4.go 5.go 6.go 7.go 8.go 9.go")
	log := commitLog(
		[]string{"Parse empty header lines (#12)", "a.go", "README.md", "new.go"},
		[]string{"Bump version of header parser", "a.go"},
		[]string{"v1.2 header parser again", "a.go"},
		[]string{"Fix typo", "a.go"},
		[]string{"Explain the header format better", "README.md"},
		[]string{"Rewrite everything from scratch", "1.go", "2.go", "3.go", "4.go", "5.go", "6.go", "7.go", "8.go", "9.go"},
		[]string{"Reject empty header names", "b_test.go", "c.py"},
	)
	got := selectTasks(log, files, 10)
	want := []task{
		{"Parse empty header lines ", []string{"a.go"}},
		{"Reject empty header names", []string{"b_test.go", "c.py"}},
	}
	same := func(a, b task) bool { return a.query == b.query && slices.Equal(a.want, b.want) }
	if !slices.EqualFunc(got, want, same) {
		t.Errorf("tasks %q, want %q", got, want)
	}
}

func TestSelectTasksSpreadsThem(t *testing.T) {
	var commits [][]string
	for _, c := range "abcdefghi" {
		commits = append(commits, []string{"change parser option " + string(c) + string(c), "a.go"})
	}
	var got []string
	for _, task := range selectTasks(commitLog(commits...), []string{"a.go"}, 4) {
		got = append(got, task.query[len(task.query)-1:])
	}
	if want := "a c e g"; strings.Join(got, " ") != want {
		t.Errorf("selected %q of nine, want %q", got, want)
	}
}

func TestScore(t *testing.T) {
	var s score
	s.add([]string{"a", "b", "c", "d"}, []string{"b", "d", "x", "y"}) // rank 2, half found
	s.add([]string{"a"}, []string{"a"})                               // rank 1, all found
	s.add([]string{"a", "b", "c", "d"}, []string{"d"})                // rank 4, all found
	s.add(nil, []string{"a"})
	got := s.mean()
	want := score{1, 2.5 / 4, 1.75 / 4, 1.0 / 4, 2.0 / 4, 3.0 / 4}
	if got != want {
		t.Errorf("mean %+v, want %+v", got, want)
	}
}

func TestGapClosed(t *testing.T) {
	for _, c := range []struct {
		now, before float64
		want        string
	}{{0.9, 0.75, "60 %"}, {0.5, 0.75, "-100 %"}, {1, 1, "none left"}} {
		if got := gapClosed(c.now, c.before); got != c.want {
			t.Errorf("gapClosed(%v, %v) = %s, want %s", c.now, c.before, got, c.want)
		}
	}
}

func testCorpus() *corpus {
	c := new(corpus)
	c.add("often.go", strings.Fields("limit limit limit other other other"))
	c.add("both.go", strings.Fields("rate limit other other other other"))
	c.add("long.go", slices.Repeat(strings.Fields("rate limit"), 2), slices.Repeat([]string{"filler"}, 4000))
	c.add("none.go", strings.Fields("something else"))
	return c
}

// grep prefers files with more different words, then those with more of them.
func TestGrep(t *testing.T) {
	got := testCorpus().grep("rate limit")
	if want := []string{"long.go", "both.go", "often.go"}; !slices.Equal(got, want) {
		t.Errorf("grep = %q, want %q", got, want)
	}
}

// BM25 prefers rare words and short files.
func TestBM25(t *testing.T) {
	c := testCorpus()
	got := c.bm25("rate limit")
	if want := []string{"both.go", "long.go", "often.go"}; !slices.Equal(got, want) {
		t.Errorf("bm25 = %q, want %q", got, want)
	}
	if got := c.bm25("nothing of this"); len(got) != 0 {
		t.Errorf("bm25 of unknown words = %q, want none", got)
	}
}

// The score is the one of the formula, worked out by hand for one word in one of two
// documents.
func TestBM25Formula(t *testing.T) {
	c := new(corpus)
	c.add("a", strings.Fields("x x y"))
	c.add("b", strings.Fields("y"))
	idf := math.Log(1 + (2-1+0.5)/(1+0.5))
	want := idf * 2 * 2.2 / (2 + 1.2*(0.25+0.75*3/2))
	if got := c.bm25Score([]string{"x"}, c.docs[0]); math.Abs(got-want) > 1e-12 {
		t.Errorf("score %v, want %v", got, want)
	}
}

func TestTagCorpus(t *testing.T) {
	tags := "!_TAG_FILE_FORMAT\t2\t/x/\n" +
		"RateLimiter\t./server/limit.go\t/^type/;\"\n" +
		"permit\t./server/limit.go\t/^func/;\"\n" +
		"limit\t./config.go\t/^var/;\"\n" +
		"Rate limit\t./README.md\t/^#/;\"\n"
	got := tagCorpus([]byte(tags)).grep("permit rate limit")
	if want := []string{"server/limit.go", "config.go"}; !slices.Equal(got, want) {
		t.Errorf("ctags = %q, want %q", got, want)
	}
}

func TestCodegraphFiles(t *testing.T) {
	answer := "Found it in `src/a.ts` (src/b.ts:12).\n```ts\nimport './src/c.ts'\n```\nSee src/a.ts, src/gone.ts and src/[id].tsx."
	tracked := map[string]bool{"src/a.ts": true, "src/b.ts": true, "src/c.ts": true, "src/[id].tsx": true}
	got := codegraphFiles(answer, tracked)
	if want := []string{"src/a.ts", "src/b.ts", "src/[id].tsx"}; !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}

func TestKenPlaces(t *testing.T) {
	got, err := kenPlaces([]byte(`{"query":"q","places":[{"path":"a.go","line":3},{"path":"b.go"},{"path":"a.go","line":9}]}`))
	if want := []string{"a.go", "b.go"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("places %q, %v, want %q", got, err, want)
	}
	if _, err := kenPlaces([]byte("no index")); err == nil {
		t.Error("an answer that is no JSON should be an error")
	}
}

func TestBothTables(t *testing.T) {
	text, err := bothTables([]string{"repository", "n"}, []section{
		{"flask", []string{"flask", "1"}}, {"caddy", []string{"caddy", "2"}}, {"hono", []string{"hono", "3"}},
	}, func(repos []string) []string { return []string{"mean", strings.Join(repos, "+")} })
	if err != nil {
		t.Fatal(err)
	}
	others, own, _ := strings.Cut(text, "Repositories that ken was tuned on:")
	if !strings.Contains(others, "| caddy") || !strings.Contains(own, "flask+hono") || strings.Contains(others, "flask") {
		t.Errorf("each repository should be in its own table:\n%s", text)
	}
}

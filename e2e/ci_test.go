package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"

	"ken/internal/testrepo"
)

const (
	ciToken   = "a-secret-token"
	ciMarker  = "<!-- ken review -->"
	ciSettled = "**ken review**: everything is settled."
)

// A githubAPI answers like api.github.com, as far as integrations/ci/review.sh asks it, and has the
// archive of ken.
type githubAPI struct {
	*httptest.Server
	t        *testing.T
	login    string // of the token's user
	readOnly bool   // as the token of a fork
	broken   bool   // every answer is an error of the server
	archive  []byte

	mu       sync.Mutex
	comments []ciComment
	sarifs   []ciSARIF
	calls    []string
}

type ciComment struct {
	ID   int    `json:"id"`
	Body string `json:"body"`
	User struct {
		Login string `json:"login"`
	} `json:"user"`
}

type ciSARIF struct {
	Commit string `json:"commit_sha"`
	Ref    string `json:"ref"`
	Tool   string `json:"tool_name"`
	SARIF  string `json:"sarif"`
}

func newGitHubAPI(t *testing.T) *githubAPI {
	t.Helper()
	a := &githubAPI{t: t, login: "github-actions[bot]", archive: kenArchive(t)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /dist/"+archiveName()+".tar.gz", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the script sent the token to the server of the archive")
		}
		w.Write(a.archive)
	})
	mux.HandleFunc("POST /graphql", a.call(func(w http.ResponseWriter, r *http.Request) {
		var ask struct{ Query string }
		a.decode(r, &ask)
		if ask.Query != "{viewer{login}}" {
			t.Errorf("unknown query %q", ask.Query)
		}
		a.answer(w, http.StatusOK, map[string]any{"data": map[string]any{"viewer": map[string]any{"login": a.login}}})
	}))
	mux.HandleFunc("GET /repos/ada/app/issues/7/comments", a.call(a.listComments))
	mux.HandleFunc("POST /repos/ada/app/issues/7/comments", a.write(func(w http.ResponseWriter, r *http.Request) {
		a.answer(w, http.StatusCreated, a.comment(a.login, a.body(r)))
	}))
	mux.HandleFunc("PATCH /repos/ada/app/issues/comments/{id}", a.write(func(w http.ResponseWriter, r *http.Request) {
		id, _ := strconv.Atoi(r.PathValue("id"))
		if id < 1 || id > len(a.comments) {
			a.answer(w, http.StatusNotFound, nil)
			return
		}
		a.comments[id-1].Body = a.body(r)
		a.answer(w, http.StatusOK, a.comments[id-1])
	}))
	mux.HandleFunc("POST /repos/ada/app/code-scanning/sarifs", a.write(func(w http.ResponseWriter, r *http.Request) {
		var upload ciSARIF
		a.decode(r, &upload)
		a.sarifs = append(a.sarifs, upload)
		a.answer(w, http.StatusAccepted, map[string]any{"id": "1"})
	}))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("the API has no %s %s", r.Method, r.URL)
		http.NotFound(w, r)
	})
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Close)
	return a
}

// call records a request and checks its token.
func (a *githubAPI) call(f http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.calls = append(a.calls, r.Method+" "+r.URL.Path)
		switch {
		case r.Header.Get("Authorization") != "Bearer "+ciToken:
			a.answer(w, http.StatusUnauthorized, map[string]any{"message": "Bad credentials"})
		case a.broken:
			http.Error(w, "<html>unicorn", http.StatusBadGateway)
		default:
			f(w, r)
		}
	}
}

// write handles a call that needs permission to write.
func (a *githubAPI) write(f http.HandlerFunc) http.HandlerFunc {
	return a.call(func(w http.ResponseWriter, r *http.Request) {
		if a.readOnly {
			a.answer(w, http.StatusForbidden, map[string]any{"message": "Resource not accessible by integration"})
			return
		}
		f(w, r)
	})
}

func (a *githubAPI) listComments(w http.ResponseWriter, r *http.Request) {
	size, page := 30, 1
	if n, err := strconv.Atoi(r.FormValue("per_page")); err == nil {
		size = min(n, 100)
	}
	if n, err := strconv.Atoi(r.FormValue("page")); err == nil {
		page = n
	}
	from := min((page-1)*size, len(a.comments))
	to := min(from+size, len(a.comments))
	if to < len(a.comments) {
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?per_page=%d&page=%d>; rel="next"`, a.URL, r.URL.Path, size, page+1))
	}
	a.answer(w, http.StatusOK, append([]ciComment{}, a.comments[from:to]...))
}

// comment adds a comment of a user.
func (a *githubAPI) comment(login, body string) ciComment {
	c := ciComment{ID: len(a.comments) + 1, Body: body}
	c.User.Login = login
	a.comments = append(a.comments, c)
	return c
}

// own returns the comments of the token's user.
func (a *githubAPI) own() []ciComment {
	var list []ciComment
	for _, c := range a.comments {
		if c.User.Login == a.login {
			list = append(list, c)
		}
	}
	return list
}

func (a *githubAPI) body(r *http.Request) string {
	var c ciComment
	a.decode(r, &c)
	if c.Body == "" || len(c.Body) > 65536 {
		a.t.Errorf("a comment of %d bytes", len(c.Body))
	}
	return c.Body
}

func (a *githubAPI) decode(r *http.Request, v any) {
	if err := json.NewDecoder(r.Body).Decode(v); err != nil {
		a.t.Errorf("%s %s: the body is not JSON: %v", r.Method, r.URL, err)
	}
}

func (a *githubAPI) answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		a.t.Error(err)
	}
}

func archiveName() string { return "ken_1.2.3_" + runtime.GOOS + "_" + runtime.GOARCH }

// kenArchive returns the archive of a release, with the program that was built for this run.
func kenArchive(t *testing.T) []byte {
	t.Helper()
	archive, err := packedKen()
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

var packedKen = sync.OnceValues(func() ([]byte, error) {
	program, err := os.ReadFile(filepath.Join(bin, "ken"))
	if err != nil {
		return nil, err
	}
	return packed(program)
})

func packed(program []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.NoCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	err = w.WriteHeader(&tar.Header{Name: archiveName() + "/ken", Mode: 0o755, Size: int64(len(program))})
	if err != nil {
		return nil, err
	}
	_, err = w.Write(program)
	err = errors.Join(err, w.Close(), z.Close())
	return b.Bytes(), err
}

// A ciJob is a pull request to a repository, and the checkout of a runner.
type ciJob struct {
	*githubAPI
	origin *testrepo.Repo
	base   string   // the base branch
	ref    string   // that the runner checks out
	env    []string // other than usual

	clone   *testrepo.Repo
	log     string // of the last run
	summary string
}

// newCIJob makes a repository whose guide mentions a file.
func newCIJob(t *testing.T) *ciJob {
	t.Helper()
	o := testrepo.New(t)
	o.Write("docs/guide.md", "# Guide\n\nRead `internal/parse/parse.go` first.\n")
	o.Write("internal/parse/parse.go", "package parse\n\n// Parse reads a text.\nfunc Parse(text string) {}\n")
	o.Commit("one")
	return &ciJob{githubAPI: newGitHubAPI(t), origin: o, base: "main", ref: "refs/pull/7/merge"}
}

// propose makes the pull request from what edit does, on top of its last version, and its merge.
func (j *ciJob) propose(edit func(o *testrepo.Repo)) {
	o := j.origin
	if _, err := o.Try("rev-parse", "-q", "--verify", "refs/pull/7/head"); err != nil {
		o.Git("update-ref", "refs/pull/7/head", "refs/heads/"+j.base)
	}
	o.Git("checkout", "-q", "--detach", "refs/pull/7/head")
	edit(o)
	o.Commit("change")
	o.Git("update-ref", "refs/pull/7/head", "HEAD")
	o.Git("checkout", "-q", "--detach", "refs/heads/"+j.base)
	o.Git("merge", "-q", "--no-ff", "-m", "merge", "refs/pull/7/head")
	o.Git("update-ref", "refs/pull/7/merge", "HEAD")
	o.Git("checkout", "-q", "main")
}

// breakGuide moves the file that the guide mentions.
func breakGuide(o *testrepo.Repo) { o.Git("mv", "internal/parse/parse.go", "internal/parse/text.go") }

func mendGuide(o *testrepo.Repo) {
	o.Write("docs/guide.md", "# Guide\n\nRead `internal/parse/text.go` first.\n")
}

// run checks out the pull request as actions/checkout does, with one commit, and runs the script.
func (j *ciJob) run() int {
	t := j.t
	t.Helper()
	j.clone = testrepo.New(t)
	c := j.clone
	c.Git("remote", "add", "origin", j.origin.URL())
	c.Git("fetch", "-q", "--no-tags", "--depth=1", "origin", "+"+j.ref+":refs/remotes/"+strings.TrimPrefix(j.ref, "refs/"))
	c.Git("checkout", "-q", "--detach", "FETCH_HEAD")

	temp := t.TempDir()
	base, err := j.origin.Try("rev-parse", j.base)
	if err != nil {
		base = j.origin.Git("rev-parse", "refs/pull/7/head~1")
	}
	event := fmt.Sprintf(`{"pull_request": {"number": 7, "title": "$(touch pwned)", "base": {"sha": %q}}}`, strings.TrimSpace(base))
	if err := os.WriteFile(filepath.Join(temp, "event.json"), []byte(event), 0o644); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs(filepath.Join("..", "integrations", "ci", "review.sh"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(j.archive)
	cmd := exec.CommandContext(t.Context(), "sh", script)
	cmd.Dir = c.Dir
	cmd.Env = c.Env(append([]string{
		"KEN_VERSION=v1.2.3", "KEN_URL=" + j.URL + "/dist", fmt.Sprintf("KEN_SHA256=%x", sum), "GITHUB_TOKEN=" + ciToken,
		"GITHUB_EVENT_NAME=pull_request", "GITHUB_EVENT_PATH=" + filepath.Join(temp, "event.json"),
		"GITHUB_BASE_REF=" + j.base, "GITHUB_REF=refs/pull/7/merge", "GITHUB_SHA=" + strings.TrimSpace(j.origin.Git("rev-parse", "refs/pull/7/merge")),
		"GITHUB_REPOSITORY=ada/app", "GITHUB_API_URL=" + j.URL, "GITHUB_GRAPHQL_URL=" + j.URL + "/graphql", "RUNNER_TEMP=" + temp,
		"GITHUB_STEP_SUMMARY=" + filepath.Join(temp, "summary"), "GITHUB_OUTPUT=" + filepath.Join(temp, "output"),
	}, j.env...)...)
	out, err := cmd.CombinedOutput()
	j.log = string(out)
	if strings.Contains(j.log, ciToken) {
		t.Errorf("the log has the token:\n%s", j.log)
	}
	summary, _ := os.ReadFile(filepath.Join(temp, "summary"))
	j.summary = string(summary)
	if _, err := os.Stat(filepath.Join(c.Dir, "pwned")); err == nil {
		t.Error("a shell ran a name of the pull request")
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0
}

// wantRun runs the script and checks its status and that the job summary contains a text.
func (j *ciJob) wantRun(status int, summary string) {
	j.t.Helper()
	if got := j.run(); got != status {
		j.t.Fatalf("the script exited with %d; want %d\n%s", got, status, j.log)
	}
	if !strings.Contains(j.summary, summary) {
		j.t.Fatalf("the job summary does not contain %q:\n%s\nlog:\n%s", summary, j.summary, j.log)
	}
}

// One comment follows the pull request: it is created with the first line, changed later, and says at
// last that everything is settled. A comment with the marker by someone else is left alone.
func TestCIKeepsOneComment(t *testing.T) {
	t.Parallel()
	j := newCIJob(t)
	j.base = "rel/$(touch${IFS}pwned);'x"
	j.origin.Git("branch", j.base)
	j.comment("eve", ciMarker+"\n"+ciSettled)
	for i := range 130 {
		j.comment("bob", fmt.Sprintf("comment %d", i))
	}
	j.comment(j.login, "a comment of another workflow")

	j.propose(breakGuide)
	j.wantRun(3, "`docs/guide.md:3` `internal/parse/parse.go` was moved by this change")
	own := j.own()
	if len(own) != 2 || !strings.HasPrefix(own[1].Body, ciMarker+"\n**ken review**: 1 file changed") || !strings.Contains(own[1].Body, "docs/guide.md:3") {
		t.Fatalf("want one new comment with the review, have %+v", own)
	}
	upload := j.lastSARIF()
	merge := strings.TrimSpace(j.origin.Git("rev-parse", "refs/pull/7/merge"))
	if upload.Commit != merge || upload.Ref != "refs/pull/7/merge" || upload.Tool != "ken" || !strings.Contains(upload.SARIF, `"uri": "docs/guide.md"`) {
		t.Errorf("SARIF: %+v; want the commit %s and docs/guide.md", upload, merge)
	}

	j.propose(func(o *testrepo.Repo) { o.Write("internal/parse/more.go", "package parse\n") })
	j.wantRun(3, "2 files changed")
	if own = j.own(); len(own) != 2 || !strings.Contains(own[1].Body, "2 files changed") {
		t.Fatalf("want the same comment with the new review, have %+v", own)
	}

	j.propose(mendGuide)
	j.wantRun(0, "nothing to do")
	if own = j.own(); len(own) != 2 || own[1].Body != ciMarker+"\n"+ciSettled+"\n" {
		t.Fatalf("want the comment settled, have %+v", own)
	}
	if upload := j.lastSARIF(); len(j.sarifs) != 3 || strings.Contains(upload.SARIF, "docs/guide.md") {
		t.Errorf("the last SARIF of %d still has an alert:\n%s", len(j.sarifs), upload.SARIF)
	}
	if own[0].Body != "a comment of another workflow" || j.comments[0].Body != ciMarker+"\n"+ciSettled {
		t.Error("the script changed a comment that is not its own")
	}
}

// The runner takes nothing that ken prints on its standard error for a command.
func TestCIGuardsStandardError(t *testing.T) {
	t.Parallel()
	j := newCIJob(t)
	j.propose(func(o *testrepo.Repo) { o.Write(".ken/config.yaml", "\"##[set-output name=x]\": 1\n") })
	j.run()
	at := strings.Index(j.log, "##[set-output")
	if at < 0 {
		t.Fatalf("ken does not name the key, so this test proves nothing:\n%s", j.log)
	}
	before := j.log[:at]
	_, stop, ok := strings.Cut(before[max(strings.LastIndex(before, "::stop-commands::"), 0):], "::stop-commands::")
	if stop, _, _ = strings.Cut(stop, "\n"); !ok || strings.Contains(before, "::"+stop+"::\n##") || !strings.Contains(j.log[at:], "::"+stop+"::") {
		t.Errorf("the runner reads what ken says as a command:\n%s", j.log)
	}
}

// lastSARIF returns the last upload with its SARIF unpacked.
func (j *ciJob) lastSARIF() ciSARIF {
	j.t.Helper()
	if len(j.sarifs) == 0 {
		j.t.Fatalf("no SARIF was uploaded\n%s", j.log)
	}
	upload := j.sarifs[len(j.sarifs)-1]
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(upload.SARIF)))
	if err != nil {
		j.t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil || !json.Valid(text) {
		j.t.Fatalf("the SARIF is not JSON: %v\n%s", err, text)
	}
	upload.SARIF = string(text)
	return upload
}

// A pull request that needs nothing gets no comment.
func TestCINoFindingsNoComment(t *testing.T) {
	t.Parallel()
	j := newCIJob(t)
	j.propose(func(o *testrepo.Repo) { o.Write("docs/more.md", "# More\n") })
	j.wantRun(0, "**ken review**: nothing to do.")
	if len(j.comments) != 0 {
		t.Errorf("there is a comment: %+v", j.comments)
	}
}

// The token of a fork may only read, and an API may be down: the job summary has the result, and the
// review decides the job.
func TestCIWithoutTheAPI(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(j *ciJob){
		"fork":   func(j *ciJob) { j.readOnly = true },
		"broken": func(j *ciJob) { j.broken = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newCIJob(t)
			spoil(j)
			j.propose(breakGuide)
			j.wantRun(3, "docs/guide.md:3")
			if strings.Contains(j.log, "::warning") != j.broken || !strings.Contains(j.log, "the job summary has the result") {
				t.Errorf("want a warning for an error of the server, and none for a fork:\n%s", j.log)
			}
			j.propose(mendGuide)
			j.wantRun(0, "nothing to do")
			if len(j.comments)+len(j.sarifs) != 0 {
				t.Errorf("comments %+v, SARIF %+v", j.comments, j.sarifs)
			}
		})
	}
}

// The script runs nothing from an archive with a wrong checksum.
func TestCIRefusesAWrongChecksum(t *testing.T) {
	t.Parallel()
	j := newCIJob(t)
	ran := filepath.Join(t.TempDir(), "ran")
	archive, err := packed([]byte("#!/bin/sh\ntouch " + ran + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	j.archive = archive
	j.propose(breakGuide)
	j.env = []string{fmt.Sprintf("KEN_SHA256=%x", sha256.Sum256(kenArchive(t)))}
	if status := j.run(); status != 1 || !strings.Contains(j.log, "wrong checksum") {
		t.Fatalf("exit status %d, want 1 for a wrong checksum\n%s", status, j.log)
	}
	if _, err := os.Stat(ran); err == nil || len(j.calls) > 0 {
		t.Errorf("the program ran (%v), or the API was called: %v", err == nil, j.calls)
	}
	j.env = nil
	j.run()
	if _, err := os.Stat(ran); err != nil {
		t.Errorf("the test proves nothing: with the right checksum the program did not run either: %v\n%s", err, j.log)
	}
}

func TestCIRefusesOtherEvents(t *testing.T) {
	t.Parallel()
	j := newCIJob(t)
	j.propose(breakGuide)
	for _, event := range []string{"pull_request_target", "push"} {
		j.env = []string{"GITHUB_EVENT_NAME=" + event}
		if status := j.run(); status != 1 || !strings.Contains(j.log, "use pull_request") {
			t.Errorf("%s: exit status %d, want 1 with a hint\n%s", event, status, j.log)
		}
	}
}

// With the input docs, the script fetches the whole history, and stale mentions anywhere fail the job: in a pull
// request in addition to the review, after a push alone.
func TestCIChecksDocuments(t *testing.T) {
	t.Parallel()
	j := newCIJob(t)
	j.addCommits("main", 100)
	j.origin.Git("reset", "-q", "--hard")
	breakGuide(j.origin)
	j.origin.Write("docs/list.md", "- @ada `<b>`\n")
	j.origin.Commit("break it on main")
	j.propose(func(o *testrepo.Repo) { o.Write("docs/more.md", "# More\n") })

	j.wantRun(0, "nothing to do")
	j.env = []string{"KEN_DOCS=true"}
	j.wantRun(3, "\n    docs/guide.md:3: internal/parse/parse.go — moved to internal/parse/text.go since ")
	if !strings.Contains(j.summary, "nothing to do") {
		t.Errorf("the review is missing:\n%s", j.summary)
	}
	if shallow := strings.TrimSpace(j.clone.Git("rev-parse", "--is-shallow-repository")); shallow != "false" {
		t.Errorf("shallow: %s; the check of documents needs the whole history", shallow)
	}
	upload := j.lastSARIF()
	if upload.Ref != "refs/pull/7/merge" || !strings.Contains(upload.SARIF, `"id": "ken docs/"`) || !strings.Contains(upload.SARIF, "docs/path-moved") {
		t.Errorf("SARIF: %+v; want the stale mention under an id of its own", upload)
	}

	j.ref = "refs/heads/main"
	j.env = append(j.env, "GITHUB_EVENT_NAME=push", "GITHUB_REF=refs/heads/main", "GITHUB_SHA="+strings.TrimSpace(j.origin.Git("rev-parse", "main")))
	uploads := len(j.sarifs)
	j.wantRun(3, "docs/guide.md:3")
	if strings.Contains(j.summary, "ken review") || len(j.sarifs) != uploads+1 || j.lastSARIF().Ref != "refs/heads/main" {
		t.Errorf("want only the documents of main, have %d more uploads:\n%s", len(j.sarifs)-uploads, j.summary)
	}

	mendGuide(j.origin)
	j.origin.Commit("mend it")
	j.env[len(j.env)-1] = "GITHUB_SHA=" + strings.TrimSpace(j.origin.Git("rev-parse", "main"))
	j.wantRun(0, "0 stale mentions")
	if upload := j.lastSARIF(); strings.Contains(upload.SARIF, "docs/guide.md") {
		t.Errorf("the last SARIF still has an alert:\n%s", upload.SARIF)
	}
}

// addCommits adds empty commits to a branch of the origin.
func (j *ciJob) addCommits(branch string, n int) {
	j.t.Helper()
	var in strings.Builder
	from := "from refs/heads/" + branch + "^0\n"
	for i := range n {
		fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter Ada <ada@example.org> %d +0000\ndata 1\nx\n%s\n", branch, 1704164645+i, from)
		from = ""
	}
	cmd := exec.CommandContext(j.t.Context(), "git", "fast-import", "--quiet")
	cmd.Dir, cmd.Env, cmd.Stdin = j.origin.Dir, j.origin.Env(), strings.NewReader(in.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		j.t.Fatalf("git fast-import: %v\n%s", err, out)
	}
}

// A shallow checkout of the branch itself gets as much history as the merge base needs.
func TestCIDeepensToTheMergeBase(t *testing.T) {
	t.Parallel()
	j := newCIJob(t)
	j.addCommits("main", 3000)
	j.origin.Git("reset", "-q", "--hard")
	j.propose(breakGuide)
	j.addCommits("main", 300)
	j.ref = "refs/pull/7/head"
	j.wantRun(3, "1 file changed since `origin/main`")
	if !strings.Contains(j.summary, "docs/guide.md:3") || strings.Contains(j.summary, "unknown") {
		t.Errorf("the review is incomplete:\n%s", j.summary)
	}
	if upload := j.lastSARIF(); upload.Ref != "refs/pull/7/head" {
		t.Errorf("SARIF of %s; the checkout is refs/pull/7/head", upload.Ref)
	}
	if n, _ := strconv.Atoi(strings.TrimSpace(j.clone.Git("rev-list", "--count", "origin/main"))); n >= 3000 {
		t.Errorf("%d commits were fetched for a merge base that is 300 commits away", n)
	}
}

// If the merge base cannot be fetched, the review is unknown and the job fails.
func TestCIMergeBaseOutOfReach(t *testing.T) {
	t.Parallel()
	j := newCIJob(t)
	j.propose(breakGuide)
	j.addCommits("main", 17000)
	j.ref = "refs/pull/7/head"
	j.wantRun(3, "does not have the merge base")
}

// The script fetches the whole history if the repository has specs.
func TestCISpecsInAShallowCheckout(t *testing.T) {
	t.Parallel()
	j := newCIJob(t)
	j.origin.Write(".spec/parser/spec.md", "---\ntitle: Parser\ncode: [internal/parse/]\n---\n\nIt parses.\n")
	j.origin.Commit("spec")
	j.addCommits("main", 300)
	j.propose(func(o *testrepo.Repo) {
		o.Write("internal/parse/parse.go", "package parse\n\n// Parse reads a text.\nfunc Parse(text string) { _ = text }\n")
	})
	j.wantRun(0, "**ken review**")
	if strings.Contains(j.summary, "unknown") || strings.Contains(j.summary, "shallow") {
		t.Errorf("a spec was not judged:\n%s\n%s", j.summary, j.log)
	}
	if shallow := strings.TrimSpace(j.clone.Git("rev-parse", "--is-shallow-repository")); shallow != "false" {
		t.Errorf("shallow: %s; a spec needs the whole history", shallow)
	}
}

// A pull request without a common commit fails the job, and the comment stays as it was.
func TestCIUnrelatedHistories(t *testing.T) {
	t.Parallel()
	j := newCIJob(t)
	j.propose(breakGuide)
	j.origin.Git("checkout", "-q", "--orphan", "other")
	j.origin.Commit("other")
	j.base = "other"
	j.comment(j.login, ciMarker+"\nan older review")
	if status := j.run(); status != 1 || !strings.Contains(j.log, "no common commit") {
		t.Errorf("exit status %d, want 1 with the message of ken\n%s", status, j.log)
	}
	if j.comments[0].Body != ciMarker+"\nan older review" || len(j.calls) > 0 {
		t.Errorf("the API was called: %v", j.calls)
	}
}

// If the base branch was deleted, the script uses its last commit.
func TestCIBaseGone(t *testing.T) {
	t.Parallel()
	j := newCIJob(t)
	j.base = "release"
	j.origin.Git("branch", "release")
	j.propose(breakGuide)
	j.origin.Git("branch", "-q", "-D", "release")
	j.wantRun(3, "docs/guide.md:3")
}

// The review includes summaries that others share.
func TestCITakesSharedSummaries(t *testing.T) {
	t.Parallel()
	j := newCIJob(t)
	ada := j.origin.Clone()
	for _, args := range [][]string{{"summary", "set", "internal/parse/parse.go", "-m", "Parses texts."}, {"share", "push"}} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "ken"), args...)
		cmd.Dir, cmd.Env = ada.Dir, ada.Env("KEN_AUTHOR=ada")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("ken %v: %v\n%s", args, err, out)
		}
	}
	j.propose(func(o *testrepo.Repo) {
		o.Write("internal/parse/parse.go", "package parse\n\n// Parse reads a text.\nfunc Parse(text, name string) {}\n")
	})
	j.wantRun(0, "**stale** `internal/parse/parse.go`")
	if len(j.own()) != 1 {
		t.Errorf("want one comment, have %+v", j.comments)
	}
}

// ShellCheck finds no mistake in the script.
func TestCIScriptIsClean(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "shellcheck", filepath.Join("..", "integrations", "ci", "review.sh")).CombinedOutput()
	if err != nil {
		t.Errorf("shellcheck: %v\n%s", err, out)
	}
}

// A ciWorkflow is the part of a workflow or an action that the test reads.
type ciWorkflow struct {
	On          map[string]any
	Permissions map[string]string
	Inputs      map[string]any
	Jobs        map[string]struct{ Steps []ciStep }
	Runs        struct{ Steps []ciStep }
}

type ciStep struct {
	Uses, Run string
	With      map[string]string
}

// The action runs the script and interpolates nothing into a shell. The workflow of the manual gives it
// inputs that it has, the least permissions, and pinned actions.
func TestCIActionAndWorkflow(t *testing.T) {
	t.Parallel()
	action := readWorkflow(t, filepath.Join("..", "integrations", "ci", "action.yml"), nil)
	if len(action.Runs.Steps) != 1 || action.Runs.Steps[0].Run != `sh "$GITHUB_ACTION_PATH/review.sh"` {
		t.Errorf("the steps of the action: %+v", action.Runs.Steps)
	}
	workflow := readWorkflow(t, filepath.Join("..", "docs", "manual", "ci.md"), regexp.MustCompile("(?s)```yaml\n(name:.*?)```"))
	if _, ok := workflow.On["pull_request"]; !ok || len(workflow.On) != 1 {
		t.Errorf("the workflow runs on %v; want pull_request only", workflow.On)
	}
	want := map[string]string{"contents": "read", "pull-requests": "write", "security-events": "write"}
	if fmt.Sprint(workflow.Permissions) != fmt.Sprint(want) {
		t.Errorf("the workflow has the permissions %v; want %v", workflow.Permissions, want)
	}
	for name, job := range workflow.Jobs {
		for _, step := range job.Steps {
			if _, pin, _ := strings.Cut(step.Uses, "@"); pin == "" || strings.HasPrefix(pin, "v") {
				t.Errorf("%s uses %q; want an action pinned by its commit", name, step.Uses)
			}
			if !strings.Contains(step.Uses, "integrations/ci") {
				continue
			}
			for input := range step.With {
				if action.Inputs[input] == nil {
					t.Errorf("the action has no input %s", input)
				}
			}
			for _, input := range []string{"version", "url", "sha256"} {
				if step.With[input] == "" {
					t.Errorf("the workflow does not set %s", input)
				}
			}
		}
	}
}

// readWorkflow reads YAML from a file, or from the first match in it.
func readWorkflow(t *testing.T, path string, part *regexp.Regexp) ciWorkflow {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if part != nil {
		m := part.FindSubmatch(text)
		if m == nil {
			t.Fatalf("%s has no workflow", path)
		}
		text = m[1]
	}
	var w ciWorkflow
	if err := yaml.Unmarshal(text, &w); err != nil {
		t.Fatalf("the workflow in %s is not YAML: %v", path, err)
	}
	steps := w.Runs.Steps
	for _, job := range w.Jobs {
		steps = append(steps, job.Steps...)
	}
	for _, step := range steps {
		if strings.Contains(step.Run, "${{") {
			t.Errorf("%s interpolates into a shell: %s", path, step.Run)
		}
	}
	return w
}

package command

import (
	"slices"
	"testing"
	"time"

	"ken/internal/fault"
)

func TestTimeoutSetting(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"": time.Minute, "5s": 5 * time.Second, "2": 2 * time.Second, "1m30s": 90 * time.Second,
		"soon": 0, "-1s": 0, "0": 0,
	} {
		t.Setenv("KEN_GIT_TIMEOUT", value)
		got, err := timeout()
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("with KEN_GIT_TIMEOUT=%q, timeout returned %s, %v; want %s", value, got, err, want)
		}
		if err != nil && fault.KindOf(err) != fault.Usage {
			t.Errorf("the error for %q has the kind %d; want a usage error", value, fault.KindOf(err))
		}
	}
}

func TestComplaintIsOneHarmlessLine(t *testing.T) {
	for in, want := range map[string]string{
		"warning: x\nfatal: bad \x1b[31mname\nmore\n": "fatal: bad ?[31mname",
		"hello\n":                       "hello",
		"":                              "",
		"fatal: unknown thing:\n\tit\n": "fatal: unknown thing: it",
		"error: \xff\n":                 "error: ?",
	} {
		if got := ErrorLine(in); got != want {
			t.Errorf("ErrorLine(%q) = %q; want %q", in, got, want)
		}
	}
}

func TestEnvironmentIsStripped(t *testing.T) {
	r := Runner{Root: "/a/b"}
	got := r.environ([]string{
		"HOME=/h", "PATH=/bin", "GIT_DIR=/x", "GIT_WORK_TREE=/x", "GIT_INDEX_FILE=/x", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=a", "GIT_CONFIG_VALUE_0=b", "GIT_TRACE=1", "GIT_TRACE2_EVENT=1", "GIT_EXTERNAL_DIFF=x",
		"GIT_NAMESPACE=n", "GIT_ATTR_SOURCE=x", "GIT_GLOB_PATHSPECS=1", "GIT_CONFIG_GLOBAL=/g", "git_dir=/x",
		"GIT_CONFIG_PARAMETERS='a.b=c'", "LC_ALL=de_DE", "GIT_ALLOW_PROTOCOL=ext",
	})
	want := []string{
		"HOME=/h", "PATH=/bin", "GIT_CONFIG_GLOBAL=/g", "LC_ALL=de_DE", "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_CEILING_DIRECTORIES=/a",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the environment is %q; want %q", got, want)
	}
}

package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// keptVariables are the GIT_ variables that say how git is installed and where
// the user's configuration lies. Every other one is dropped, whether it is in
// `git rev-parse --local-env-vars` (GIT_DIR and its kin, which a hook inherits
// and which would make git answer for another repository), turns output into
// something else (GIT_EXTERNAL_DIFF, GIT_TRACE, GIT_GLOB_PATHSPECS), or does
// not exist yet.
var keptVariables = []string{
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
	"GIT_ATTR_NOSYSTEM", "GIT_EXEC_PATH",
}

// environ returns the environment git is run with, made from ours.
func (r *Repo) environ(ours []string) []string {
	env := make([]string, 0, len(ours)+5)
	for _, kv := range ours {
		name, _, _ := strings.Cut(kv, "=")
		name = strings.ToUpper(name) // on Windows, case means nothing
		if strings.HasPrefix(name, "GIT_") && !slices.Contains(keptVariables, name) {
			continue
		}
		env = append(env, kv)
	}
	env = append(env,
		"LC_ALL=C", // messages we look into, and the order of bytes
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_NO_LAZY_FETCH=1",
	)
	// Should git not take our root for a repository after all, it must say so
	// rather than answer for another one further up.
	if up := filepath.Dir(r.root); !strings.ContainsRune(up, os.PathListSeparator) {
		env = append(env, "GIT_CEILING_DIRECTORIES="+up)
	}
	return env
}

// networkVariables are those that say how a remote is reached, which only calls that
// speak to one are given.
var networkVariables = []string{
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "GIT_PROXY_SSL_CERT",
	"GIT_ALLOW_PROTOCOL", "GIT_PROTOCOL_FROM_USER", "GIT_CURL_FTP_NO_EPSV", "GIT_SSL_NO_VERIFY", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH",
	"GIT_SSL_CERT", "GIT_SSL_KEY", "GIT_SSL_VERSION", "GIT_SSL_CIPHER_LIST", "GIT_HTTP_PROXY_AUTHMETHOD",
	"GIT_HTTP_USER_AGENT", "GIT_HTTP_LOW_SPEED_LIMIT", "GIT_HTTP_LOW_SPEED_TIME",
}

// network returns what of ours is added to the environment of a call to a remote.
func network(ours []string) []string {
	var env []string
	for _, kv := range ours {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(networkVariables, strings.ToUpper(name)) {
			env = append(env, kv)
		}
	}
	return env
}

// literalPathspecs has git take names for names.
const literalPathspecs = "--literal-pathspecs"

// fixed returns the arguments that stand before every command: where to look,
// and no program or lock whatever the configuration says.
func (r *Repo) fixed() []string {
	args := []string{"-C", r.root}
	if r.detached {
		args = append(args, "--git-dir="+r.gitDir, "--work-tree="+r.root)
	}
	if r.foreign {
		// The user's word for it may have been a variable that later calls are not given.
		args = append(args, "-c", "safe.directory="+filepath.ToSlash(r.root))
	}
	return append(args,
		"--no-pager", "--no-optional-locks", literalPathspecs,
		"-c", "core.fsmonitor=false",
		"-c", "core.hooksPath="+os.DevNull,
		"-c", "core.quotePath=false",
		"-c", "core.untrackedCache=keep",
		"-c", "core.splitIndex=false", // or a scratch index would leave files in the git directory
		"-c", "core.safecrlf=false",
		"-c", "i18n.commitEncoding=UTF-8", // what we write is, and what we read is to be
		"-c", "i18n.logOutputEncoding=UTF-8",
		"-c", "trailer.separators=:",
		"-c", "core.commentChar=#", // or trailers that begin with another one would be comments
		"-c", "core.checkStat=default", // or an edit that keeps size and time would pass
		"-c", "core.trustctime=true",
	)
}

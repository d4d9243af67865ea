package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// keptVariables are the GIT_ variables about the installation of git and the files of the user's configuration. ken
// drops all others: GIT_DIR and the like, which a hook inherits and which select another repository; variables that
// change the output (GIT_EXTERNAL_DIFF, GIT_TRACE, GIT_GLOB_PATHSPECS); and variables of future versions.
var keptVariables = []string{
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
	"GIT_ATTR_NOSYSTEM", "GIT_EXEC_PATH",
}

// environ returns the environment of git, made from the environment of ken.
func (r Runner) environ(ours []string) []string {
	env := make([]string, 0, len(ours)+5)
	for _, kv := range ours {
		name, _, _ := strings.Cut(kv, "=")
		name = strings.ToUpper(name) // Windows ignores the case
		if strings.HasPrefix(name, "GIT_") && !slices.Contains(keptVariables, name) {
			continue
		}
		env = append(env, kv)
	}
	env = append(env,
		"LC_ALL=C", // messages in English, sorted by bytes
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_NO_LAZY_FETCH=1",
	)
	// If git does not accept the root as a repository, it must fail and not use another repository further up.
	if up := filepath.Dir(r.Root); !strings.ContainsRune(up, os.PathListSeparator) {
		env = append(env, "GIT_CEILING_DIRECTORIES="+up)
	}
	return env
}

// networkVariables are the variables about remotes. Only calls that contact a remote get them.
var networkVariables = []string{
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "GIT_PROXY_SSL_CERT",
	"GIT_ALLOW_PROTOCOL", "GIT_PROTOCOL_FROM_USER", "GIT_CURL_FTP_NO_EPSV", "GIT_SSL_NO_VERIFY", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH",
	"GIT_SSL_CERT", "GIT_SSL_KEY", "GIT_SSL_VERSION", "GIT_SSL_CIPHER_LIST", "GIT_HTTP_PROXY_AUTHMETHOD",
	"GIT_HTTP_USER_AGENT", "GIT_HTTP_LOW_SPEED_LIMIT", "GIT_HTTP_LOW_SPEED_TIME",
}

// network returns the variables for a call that contacts a remote.
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

// literalPathspecs makes git take names literally.
const literalPathspecs = "--literal-pathspecs"

// fixed returns the arguments before every command. They name the repository, and override settings that would start
// programs, take locks or change the output.
func (r Runner) fixed() []string {
	args := []string{"-C", r.Root}
	if r.Detached {
		args = append(args, "--git-dir="+r.GitDir, "--work-tree="+r.Root)
	}
	if r.Foreign {
		// The user may have allowed the directory by an environment variable, which git does not get here.
		args = append(args, "-c", "safe.directory="+filepath.ToSlash(r.Root))
	}
	return append(args,
		"--no-pager", "--no-optional-locks", literalPathspecs,
		"-c", "core.fsmonitor=false",
		"-c", "core.hooksPath="+os.DevNull,
		"-c", "core.quotePath=false",
		"-c", "core.untrackedCache=keep",
		"-c", "core.splitIndex=false", // otherwise a temporary index would leave files in the git directory
		"-c", "core.safecrlf=false",
		"-c", "i18n.commitEncoding=UTF-8", // ken writes and reads UTF-8
		"-c", "i18n.logOutputEncoding=UTF-8",
		"-c", "trailer.separators=:",
		"-c", "core.commentChar=#", // otherwise git could take trailers for comments
		"-c", "core.checkStat=default", // otherwise git could miss an edit that keeps size and mtime
		"-c", "core.trustctime=true",
	)
}

package web

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"ken/internal/fault"
	"ken/internal/repo"
)

// DefaultEditor is the address that opens a file in VS Code.
const DefaultEditor = "vscode://file/{path}:{line}"

// NoEditor is the setting for no links to an editor.
const NoEditor = "off"

// A Remote is the forge that a repository is pushed to.
type Remote struct {
	URL    string  // as git has it, "" without a remote
	Commit repo.ID // the newest known commit that the remote has, zero if there is none
}

// CheckEditor refuses an editor setting that makes no usable links.
func CheckEditor(setting string) error {
	if setting == "" || setting == NoEditor {
		return nil
	}
	problem := ""
	scheme := schemeOf(setting)
	switch {
	case scheme == "":
		problem = "it begins with no scheme such as vscode:"
	case scheme == "javascript" || scheme == "data" || scheme == "vbscript" || scheme == "blob":
		problem = "ken makes no links with the scheme " + scheme
	case !strings.Contains(setting, "{path}"):
		problem = "it lacks {path}"
	case strings.ContainsFunc(setting, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("\"'<>\\`", r) }):
		problem = "it contains a space, a quotation mark or another character that an address cannot contain"
	}
	if problem == "" {
		return nil
	}
	return &fault.Error{
		Kind: fault.Usage,
		Hint: "git config --global ken.editor '" + DefaultEditor + "'",
		Err:  errors.New("the setting ken.editor is " + strconv.Quote(setting) + ": " + problem),
	}
}

var schemePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*):`) })

func schemeOf(address string) string {
	m := schemePattern().FindStringSubmatch(address)
	if m == nil {
		return ""
	}
	return strings.ToLower(m[1])
}

// EditorLink returns the address that opens a path of the worktree in the user's editor,
// "" without one. Line 0 means no line.
func (pd *pageData) EditorLink(path repo.Path, line int) template.URL {
	setting := cmp.Or(pd.editor, DefaultEditor)
	if pd.dir == "" || setting == NoEditor || CheckEditor(setting) != nil {
		return ""
	}
	full := strings.ReplaceAll(pd.dir, `\`, "/")
	if path != "" {
		full += "/" + string(path)
	}
	return template.URL(editorAddress(setting, full, line)) //nolint:gosec // CheckEditor accepts the scheme, and the path is escaped
}

// linePart is {line} with what leads to it: a colon, or a parameter of the query.
var linePart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:[:#]|&[a-z]+=)\{line\}`) })

func editorAddress(setting, path string, line int) string {
	if line < 1 {
		setting = linePart().ReplaceAllString(setting, "")
		line = 1
	}
	setting = strings.ReplaceAll(setting, "{line}", strconv.Itoa(line))
	escaped := escapePath(path)
	if drive, rest, ok := strings.Cut(escaped, "%3A"); ok && len(drive) == 1 {
		escaped = "/" + drive + ":" + rest // C:/dir
	}
	setting = strings.ReplaceAll(setting, "/{path}", escaped) // it begins with a slash
	return strings.ReplaceAll(setting, "{path}", escaped)
}

// escapePath escapes everything in a path except letters, digits, "-", "_", ".", "~" and
// slashes, so that it fits in any part of an address.
func escapePath(path string) string {
	var b strings.Builder
	for i := range len(path) {
		c := path[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-_.~/", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// ForgeLink returns the address of a path on the forge of the remote, "" if it is
// unknown. Line 0 means no line.
func (pd *pageData) ForgeLink(path repo.Path, line int) template.URL {
	remote := pd.pageRemote()
	if remote.Commit.IsZero() {
		return ""
	}
	return template.URL(forgeAddress(remote.URL, remote.Commit.String(), path, line)) //nolint:gosec // http or https, and escaped
}

// ForgeName returns the host name of the forge.
func (pd *pageData) ForgeName() string {
	base, err := url.Parse(forgeBase(pd.pageRemote().URL))
	if err != nil {
		return ""
	}
	return base.Host
}

// pageRemote asks for the remote once for a page.
func (pd *pageData) pageRemote() Remote {
	if pd.remote == nil {
		return Remote{}
	}
	return pd.remote()
}

// A forgeKind is the software of a forge, which decides how its addresses look.
type forgeKind int

const (
	unknownForge forgeKind = iota
	gitHub
	gitLab
	gitea // and Forgejo
	bitbucketCloud
	bitbucketServer
	sourceHut
)

// forgeAddress returns the page of a path at a commit, "" for a remote whose pages ken
// does not know.
func forgeAddress(remote, commit string, path repo.Path, line int) string {
	base := forgeBase(remote)
	if base == "" {
		return ""
	}
	kind := kindOfForge(base)
	at := strings.TrimSuffix("/"+escapePath(string(path)), "/")
	anchor := func(prefix string) string {
		if line < 1 {
			return ""
		}
		return "#" + prefix + strconv.Itoa(line)
	}
	view := "blob"
	if path == "" {
		view = "tree"
	}
	switch kind {
	case gitHub:
		return base + "/" + view + "/" + commit + at + anchor("L")
	case gitLab:
		return base + "/-/" + view + "/" + commit + at + anchor("L")
	case gitea:
		return base + "/src/commit/" + commit + at + anchor("L")
	case bitbucketCloud:
		return base + "/src/" + commit + at + anchor("lines-")
	case bitbucketServer:
		return bitbucketProject(base) + "/browse" + at + "?at=" + commit + anchor("")
	case sourceHut:
		if at != "" {
			at = "/item" + at
		}
		return base + "/tree/" + commit + at + anchor("L")
	default:
		return ""
	}
}

var (
	scpForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:[^@/:]+@)?([A-Za-z0-9.-]+):([^/].*)$`)
	})
	hostForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]+)?$`)
	})
)

// forgeBase returns the web address of a repository, without user and password, "" if
// the remote is none on a server.
func forgeBase(remote string) string {
	if strings.Contains(remote, "::") { // a remote helper
		return ""
	}
	scheme, host, path := "https", "", ""
	if u, err := url.Parse(remote); err == nil && u.Host != "" {
		switch u.Scheme {
		case "https", "http":
			scheme, host = u.Scheme, u.Host
		case "ssh", "git", "git+ssh", "ssh+git":
			host = u.Hostname() // the port is that of ssh or git
		default:
			return ""
		}
		path = u.Path
	} else if m := scpForm().FindStringSubmatch(remote); m != nil && len(m[1]) > 1 { // one letter is a drive
		host, path = m[1], m[2]
	}
	if !hostForm().MatchString(host) {
		return ""
	}
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	parts := strings.Split(path, "/")
	for _, part := range parts {
		if part == "" || part == "." || part == ".." {
			return ""
		}
	}
	if len(parts) < 2 {
		return ""
	}
	return scheme + "://" + strings.ToLower(host) + "/" + escapePath(path)
}

// kindOfForge guesses the software from the address: from the host name, or because only
// GitLab has groups in groups.
func kindOfForge(base string) forgeKind {
	u, err := url.Parse(base)
	if err != nil {
		return unknownForge
	}
	host := u.Hostname()
	names := func(word string) bool { return strings.Contains(host, word) }
	switch {
	case host == "bitbucket.org":
		return bitbucketCloud
	case names("bitbucket"), names("stash"):
		return bitbucketServer
	case names("github"):
		return gitHub
	case names("gitlab"):
		return gitLab
	case names("gitea"), names("forgejo"), host == "codeberg.org":
		return gitea
	case host == "git.sr.ht":
		return sourceHut
	case strings.HasPrefix(u.Path, "/scm/"):
		return bitbucketServer
	case strings.Count(strings.Trim(u.Path, "/"), "/") > 1:
		return gitLab
	}
	return unknownForge
}

// bitbucketProject returns the web address of a repository on a Bitbucket server:
// https://host/scm/PROJECT/NAME is for git.
func bitbucketProject(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	parts := strings.Split(strings.Trim(strings.TrimPrefix(u.EscapedPath(), "/scm"), "/"), "/")
	if len(parts) != 2 {
		return base
	}
	return u.Scheme + "://" + u.Host + "/projects/" + parts[0] + "/repos/" + parts[1]
}

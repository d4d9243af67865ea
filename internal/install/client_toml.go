package install

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"ken/internal/fault"
)

// In TOML, ken's entries are a marked block at the end, since no library edits TOML and
// keeps every byte.
const (
	blockText = markStart + "\n" +
		"# Added by ken install codex. Remove it with: ken install codex --uninstall\n" +
		"[mcp_servers.ken]\n" +
		"command = \"ken\"\n" +
		"args = [\"mcp\"]\n" +
		markEnd
)

// tomlBlock returns the block, with a line end if ended.
func tomlBlock(ended bool) []byte {
	if ended {
		return []byte(blockText + "\n")
	}
	return []byte(blockText)
}

// parseServers decodes a text. It returns the server ken, nil if there is none, and all other
// settings.
func parseServers(text []byte) (ken any, others map[string]any, err error) {
	if err := toml.Unmarshal(bytes.TrimPrefix(text, []byte(bom)), &others); err != nil {
		where := ""
		if e, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ := e.Position()
			where = fmt.Sprintf(" in line %d", line)
		}
		return nil, nil, malformed("not TOML%s: %s", where, strings.TrimPrefix(err.Error(), "toml: "))
	}
	const table = "mcp_servers"
	servers, ok := others[table].(map[string]any)
	if !ok && others[table] != nil {
		return nil, nil, malformed("%s is not a table", table)
	}
	ken = servers[serverName]
	if delete(servers, serverName); len(servers) == 0 {
		delete(others, table)
	}
	return ken, others, nil
}

// countTOML returns whether a text has the server ken, and whether it starts another program.
func countTOML(text []byte) (own, foreign int, err error) {
	ken, _, err := parseServers(text)
	if err != nil || ken == nil {
		return 0, 0, err
	}
	server, _ := ken.(map[string]any)
	env, _ := server["env"].(map[string]any)
	if command, _ := server["command"].(string); !isKen(command, env) {
		return 0, 1, nil
	}
	return 1, 0, nil
}

// addTOML adds the block after a text. If the text has no line end at its end, neither has the
// block, so that removeTOML can restore the text.
func addTOML(text []byte) (out []byte, note string, err error) {
	ken, _, err := parseServers(text)
	if err != nil {
		return nil, "", err
	}
	own, err := findMarkedBlock(text)
	switch {
	case err != nil:
		return nil, "", err
	case ken != nil && own != nil:
		return text, "", nil
	case ken != nil:
		return text, "it already has another server named ken, which stays as it is", nil
	case own != nil: // somebody removed the server from the block
		return nil, "", &fault.Error{
			Hint: "remove ken's lines by hand, from " + markStart + " to " + markEnd,
			Err:  errors.New("ken's block contains no server named ken"),
		}
	}
	eol := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		eol = "\r\n"
	}
	block := strings.ReplaceAll(blockText, "\n", eol)
	switch {
	case len(text) == 0:
		out = []byte(block)
	case bytes.HasSuffix(text, []byte("\n")):
		out = []byte(string(text) + eol + block + eol)
	default:
		out = []byte(string(text) + eol + eol + block)
	}
	if _, _, err := parseServers(out); err != nil { // for example, mcp_servers is an inline table
		return nil, "", &fault.Error{
			Hint: "add by hand: ken = { command = \"ken\", args = [\"mcp\"] }",
			Err:  errors.New("cannot add a table mcp_servers.ken"),
		}
	}
	return out, "", nil
}

// removeTOML removes the block.
func removeTOML(text []byte) (out []byte, bare bool, note string, err error) {
	ken, others, err := parseServers(text)
	if err != nil {
		return nil, false, "", err
	}
	own, err := findMarkedBlock(text)
	if err != nil {
		return nil, false, "", err
	}
	if own == nil {
		if ken != nil {
			note = "ken install did not add its server named ken, which stays as it is"
		}
		return text, false, note, nil
	}
	before := own.before
	switch {
	case len(before) == 0 && own.ended && len(own.after) == 0:
		return nil, true, "", nil
	case own.ended:
		before = trimEOL(before)
	default:
		before = trimEOL(trimEOL(before))
	}
	out = []byte(string(before) + string(own.after))
	// Keys after the block belong to the table of ken, and would move to another one.
	more, left, err := parseServers(out)
	if err != nil || !reflect.DeepEqual(left, others) {
		return nil, false, "", &fault.Error{
			Hint: "remove ken's lines by hand, from " + markStart + " to " + markEnd,
			Err:  errors.New("other settings depend on ken's lines"),
		}
	}
	if more != nil {
		note = "it has more settings for a server named ken, which stay as they are"
	}
	return out, false, note, nil
}

func trimEOL(text []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
}

package postgres_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"ken/internal/fault"
	"ken/internal/store/postgres"
)

// No message contains a part of a password, even if the user forgot to escape it.
func TestMessagesHaveNoPassword(t *testing.T) {
	passwords := []string{
		"p@ssw0rdTail", "1234/Tail", "1234?Tail", "1234#Tail", "12345", "a:QWERTY", "Q@", "@QQQQ", "QQQQ&RRRR=SSSS", "1234?QQQQ=RRRR", "QQ%41QQ", "QQ%ZZQQ", "1234\\QQQQ", "QQ[Q]Q",
	}
	const letters = "QWXYZ6789@/:#?&=%+ [],;\\'\"|^`{}$!*()~.-_é\t"
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var b strings.Builder
		for range 4 + random.IntN(12) {
			r := []rune(letters)
			b.WriteRune(r[random.IntN(len(r))])
		}
		passwords = append(passwords, b.String())
	}
	for i, pw := range passwords {
		for form, address := range map[string]string{
			"raw":         "postgres://ken:" + pw + "@127.0.0.1:1/ken",
			"escaped":     "postgres://ken:" + url.QueryEscape(pw) + "@127.0.0.1:1/ken",
			"query":       "postgres://ken@127.0.0.1:1/ken?password=" + pw,
			"query first": "postgres://127.0.0.1:1/ken?password=" + pw + "&user=ken",
			"query plain": "postgres://ken@127.0.0.1:1/ken?password=" + url.QueryEscape(pw),
		} {
			messages := []string{}
			if _, err := postgres.ParseFromConfig(address); err != nil {
				messages = append(messages, err.Error(), fault.HintOf(err))
			}
			a, err := postgres.Parse(address)
			if err != nil {
				messages = append(messages, err.Error(), fault.HintOf(err))
			} else {
				messages = append(messages, a.String(), a.Canonical(), fmt.Sprint(a))
				if i < 100 && a.Host == "127.0.0.1" {
					s, err := postgres.Open(address, postgres.Options{Repository: "r"})
					if err != nil {
						t.Fatal(err)
					}
					_, err = s.Repository(t.Context())
					messages = append(messages, err.Error(), fault.HintOf(err))
				}
				if a.Host != "127.0.0.1" || a.User != "ken" || a.Database != "ken" || a.Port != 1 {
					t.Errorf("%s %q: parsed as %s", form, pw, a)
				}
			}
			if err != nil && (form == "escaped" || form == "query plain") {
				t.Errorf("%s %q is refused: %v", form, pw, err)
			}
			if !postgres.HasPassword(address) {
				t.Errorf("%s %q: HasPassword is false", form, pw)
			}
			runes := []rune(pw)
			for k := 0; k+4 <= len(runes); k++ {
				part := string(runes[k : k+4])
				for _, text := range messages {
					if strings.Contains(text, part) || strings.Contains(text, url.QueryEscape(part)) || strings.Contains(text, url.PathEscape(part)) {
						t.Errorf("%s %q: the message %[4]q contains %[3]q", form, pw, part, text)
					}
				}
			}
		}
		if t.Failed() && i > 200 {
			break
		}
	}
}

// ken removes the password from a server message that quotes it.
func TestQuotedPassword(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			server := pgproto3.NewBackend(conn, conn)
			if _, err = server.ReceiveStartupMessage(); err == nil {
				server.Send(&pgproto3.AuthenticationCleartextPassword{})
				err = errors.Join(server.Flush(), server.SetAuthType(pgproto3.AuthTypeCleartextPassword))
			}
			var message pgproto3.FrontendMessage
			if err == nil {
				message, err = server.Receive()
			}
			if given, ok := message.(*pgproto3.PasswordMessage); ok && err == nil {
				server.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "28P01", Message: "nobody has the password " + given.Password})
				_ = server.Flush()
			}
			_ = conn.Close()
		}
	}()
	err = postgres.CheckAccess(t.Context(), "postgres://ken:open%2Fsesame@"+l.Addr().String()+"/ken?sslmode=disable")
	if err == nil || !strings.Contains(err.Error(), "nobody has the password") || strings.Contains(err.Error(), "sesame") {
		t.Errorf("CheckAccess returned the error %v; want that of the server, without the password", err)
	}
}

// An address from a repository cannot make ken read or send a file of the user. The text that the user allows contains
// every setting.
func TestParseNamed(t *testing.T) {
	dir := url.QueryEscape(t.TempDir())
	for _, setting := range []string{
		"passfile=x", "servicefile=x&service=x", "service=x", "sslcert=x&sslkey=x", "sslkey=x", "sslpassword=x",
		"sslrootcert=" + dir, "sslrootcert=/dev/zero", "sslrootcert=system&sslrootcert=/dev/zero", "hostaddr=127.0.0.1", "krbsrvname=x", "requirepeer=x", "statement_timeout=1",
	} {
		if a, err := postgres.ParseFromConfig("postgres://ken@db.example/ken?" + setting); err == nil {
			t.Errorf("ParseFromConfig accepts %s: %s", setting, a.Canonical())
		}
	}
	seen := map[string]string{}
	for _, address := range []string{
		"postgres://ken@db.example/ken", "postgres://eve@db.example/ken", "postgres://ken@db.example:5433/ken", "postgres://ken@db.example/other",
		"postgres://ken@other.example/ken", "postgres://ken@db.example/ken?sslmode=disable", "postgres://ken@db.example/ken?options=-cx%3Dy",
		"postgres://ken@db.example/ken?channel_binding=disable", "postgres:///ken?host=/tmp&user=ken", "postgres:///ken?host=/var&user=ken",
	} {
		a, err := postgres.ParseFromConfig(address)
		if err != nil {
			t.Errorf("ParseFromConfig(%q) returned the error %v", address, err)
			continue
		}
		if other, ok := seen[a.Canonical()]; ok {
			t.Errorf("%s and %s have the same canonical form: %s", other, address, a.Canonical())
		}
		seen[a.Canonical()] = address
		if again, err := postgres.ParseFromConfig(a.Canonical()); err != nil || again.Canonical() != a.Canonical() {
			t.Errorf("%s: the canonical form %s is parsed as %s: %v", address, a.Canonical(), again.Canonical(), err)
		}
	}
}

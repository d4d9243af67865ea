package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"ken/internal/fault"
)

// An Address says where a database is and who goes there. It never holds a password, and so
// may be printed.
type Address struct {
	User, Host, Database string
	Port                 uint16
	// TLS is what libpq calls sslmode: how far the server has to prove who it is.
	TLS string

	// settings are what the address sets besides, without a password.
	settings url.Values
	// secrets are what must not be printed, should a message of somebody else hold it.
	secrets []string
}

// socket reports whether the host is a directory of this machine, where a socket lies.
func (a Address) socket() bool { return strings.HasPrefix(a.Host, "/") }

func (a Address) String() string {
	u := url.URL{Scheme: "postgres", User: url.User(a.User), Path: "/" + a.Database}
	if a.socket() {
		u.RawQuery = url.Values{"host": {a.Host}}.Encode()
	} else {
		u.Host = net.JoinHostPort(a.Host, strconv.Itoa(int(a.Port)))
	}
	return u.String()
}

// Agreement is what the user allows: who goes where, what the server has to prove, and every
// other setting of the address.
func (a Address) Agreement() string {
	u, err := url.Parse(a.String())
	if err != nil {
		return a.String() // it was written a moment ago
	}
	query := u.Query()
	for name, values := range a.settings {
		query[name] = values
	}
	query.Set("sslmode", a.TLS)
	u.RawQuery = query.Encode()
	return u.String()
}

// ParseNamed reads an address that a repository's configuration names. It may set less than one
// that the user names: no file of the user's is read, and none is sent, because of it.
func ParseNamed(address string) (Address, error) {
	if u, err := url.Parse(address); err == nil && !torn(address) {
		for name, values := range u.Query() {
			if !slices.Contains(namedSettings, name) {
				return Address{}, &fault.Error{
					Kind: fault.Usage,
					Hint: "remove it from store in .ken/config.yaml, or set the whole address in KEN_STORE",
					Err:  fmt.Errorf("address of the store: .ken/config.yaml may not set %q", name),
				}
			}
			if len(values) > 1 {
				return Address{}, unreadable(fmt.Sprintf("it sets %q more than once", name))
			}
			if name == "sslrootcert" && !certificates(values[0]) {
				return Address{}, unreadable("its sslrootcert is not a regular file under 1 MiB")
			}
		}
	}
	return Parse(address)
}

// certificates reports whether a file may hold certificates: no pipe or device, over which the
// reader would never come to an end.
func certificates(name string) bool {
	info, err := os.Stat(name)
	return name == "system" || err == nil && info.Mode().IsRegular() && info.Size() < 1<<20
}

// HasPassword reports whether a password is written in an address.
func HasPassword(address string) bool {
	u, err := url.Parse(address)
	if err != nil || torn(address) {
		// It may be in there all the same: a password with a slash is no address.
		_, rest, _ := strings.Cut(address, "://")
		user, _, at := strings.Cut(rest, "@")
		return at && strings.Contains(user, ":") || strings.Contains(rest, "password=")
	}
	_, ok := u.User.Password()
	return ok || u.Query().Has("password")
}

// Parse reads an address.
func Parse(address string) (Address, error) {
	a, _, err := parse(address)
	return a, err
}

// parse reads an address. What pgx says of one that it does not understand may quote it, and
// is not passed on.
func parse(address string) (Address, *pgxpool.Config, error) {
	if !strings.HasPrefix(address, "postgres://") && !strings.HasPrefix(address, "postgresql://") {
		return Address{}, nil, unreadable("it begins with neither postgres:// nor postgresql://")
	}
	const escape = "characters like / @ : # ? & in a password are written %2F %40 %3A %23 %3F %26"
	if torn(address) {
		return Address{}, nil, unreadable("where its password ends cannot be told; " + escape)
	}
	config, err := parseConfig(address)
	if err != nil {
		why := "libpq would not take it either"
		if _, bad := url.Parse(address); bad != nil {
			why = "it is not a URL; " + escape
		} else if reason, ok := errors.AsType[*url.Error](err); ok {
			why = reason.Err.Error()
		} else if detail := parseDetail(err); detail != "" {
			why = detail
		}
		return Address{}, nil, unreadable(why)
	}
	c := config.ConnConfig
	// Of several hosts any may be contacted, and the user would have allowed the first.
	for _, f := range c.Fallbacks {
		if f.Host != c.Host || f.Port != c.Port {
			return Address{}, nil, unreadable("it names several hosts, and ken goes to one")
		}
	}
	a := Address{User: c.User, Host: c.Host, Port: c.Port, Database: c.Database, TLS: sslmode(c), settings: otherSettings(address)}
	if c.Password != "" {
		a.secrets = []string{c.Password, url.QueryEscape(c.Password), url.PathEscape(c.Password)}
	}
	return a, config, nil
}

// parseConfig reads an address. Over a network ken encrypts: the modes prefer, which is the
// default of libpq, and allow would go on in plain text if somebody in between asks for it, so
// they count as require.
func parseConfig(address string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil || onThisMachine(config.ConnConfig.Host) {
		return config, err
	}
	if mode := sslmode(config.ConnConfig); mode != "prefer" && mode != "allow" {
		return config, nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	query := u.Query()
	query.Set("sslmode", "require")
	u.RawQuery = query.Encode()
	return pgxpool.ParseConfig(u.String())
}

// onThisMachine reports whether a host is a socket or a loopback address.
func onThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return strings.HasPrefix(host, "/") || host == "localhost" || ip != nil && ip.IsLoopback()
}

// torn reports whether an address holds a character that means something in a URL where a password
// may have been meant: what stands behind it would pass for a host, a database or a setting, and
// be printed.
func torn(address string) bool {
	_, rest, _ := strings.Cut(address, "://")
	if strings.Contains(rest, "#") || strings.Count(rest, "@") > 1 {
		return true
	}
	if end := strings.IndexAny(rest, "/?"); end >= 0 && strings.Contains(rest[end:], "@") {
		return true
	}
	u, err := url.Parse(address)
	if err != nil {
		return false // that is said elsewhere
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil || !query.Has("password") {
		return err != nil
	}
	for name := range query {
		if !slices.Contains(settings, name) {
			return true
		}
	}
	return false
}

// settings are what libpq takes in an address. Beside a password nothing else is taken: it may be
// what stood behind an & in the password, which the server would quote.
var settings = []string{
	"application_name", "channel_binding", "client_encoding", "connect_timeout", "dbname", "gssencmode", "host", "hostaddr",
	"keepalives", "keepalives_idle", "krbsrvname", "options", "passfile", "password", "port", "requirepeer", "search_path",
	"sslcert", "sslkey", "sslmode", "sslpassword", "sslrootcert", "sslsni", "target_session_attrs", "user",
}

// namedSettings are what an address may set that a repository's configuration names: nothing
// that reads a file of the user's, such as a password file, a service file or a key.
var namedSettings = []string{
	"application_name", "channel_binding", "client_encoding", "connect_timeout", "dbname", "host", "options", "password", "port",
	"search_path", "sslmode", "sslrootcert", "sslsni", "target_session_attrs", "user",
}

// sslmode returns what an address and the environment together ask for.
func sslmode(c *pgx.ConnConfig) string {
	other := func(tls bool) bool {
		return slices.ContainsFunc(c.Fallbacks, func(f *pgconn.FallbackConfig) bool { return (f.TLSConfig != nil) == tls })
	}
	switch {
	case c.TLSConfig == nil && other(true):
		return "allow"
	case c.TLSConfig == nil:
		return "disable"
	case other(false):
		return "prefer"
	case !c.TLSConfig.InsecureSkipVerify:
		return "verify-full"
	case c.TLSConfig.VerifyPeerCertificate != nil:
		return "verify-ca"
	}
	return "require"
}

// otherSettings returns what an address sets beside who goes where, without a password.
func otherSettings(address string) url.Values {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	query := u.Query()
	for _, name := range []string{"user", "password", "host", "port", "dbname", "database"} {
		query.Del(name)
	}
	return query
}

// parseDetail returns what is known to be wrong and quotes nothing.
func parseDetail(err error) string {
	for _, known := range []string{"sslmode is invalid", "invalid port", "failed to configure TLS", "unable to read CA file"} {
		if strings.Contains(err.Error(), known) {
			return known
		}
	}
	return ""
}

func unreadable(why string) error {
	return &fault.Error{
		Kind: fault.Usage,
		Hint: "write it as: store: postgres://USER@HOST:5432/DATABASE (the password in PGPASSWORD or ~/.pgpass)",
		Err:  fmt.Errorf("address of the store: %s", why),
	}
}

// A serverError is a failure of a server, in words without secrets.
type serverError struct {
	words string
	err   error
}

func (e *serverError) Error() string { return e.words }

func (e *serverError) Unwrap() error { return e.err }

// Explain puts a failure of the server that somebody else met into the store's words: where, why,
// and what to do about it.
func (s *Store) Explain(err error) error { return s.explain("reach", err) }

// explain says what failed, where and why, and what to do about it. What somebody who was
// called back has reported, and that somebody gave up waiting, stays as it is.
func (s *Store) explain(what string, err error) error {
	if err == nil {
		return nil
	}
	if t, ok := errors.AsType[*theirs](err); ok {
		return t.error
	}
	if _, ok := errors.AsType[*serverError](err); ok {
		return err
	}
	why, hint := s.reason(err)
	for _, secret := range s.address.secrets {
		why = strings.ReplaceAll(why, secret, "•••")
	}
	return &fault.Error{Hint: hint, Err: &serverError{fmt.Sprintf("%s store %s: %s", what, s.address, why), err}}
}

// reason puts a failure into words, with what to do about it.
func (s *Store) reason(err error) (why, hint string) {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Error(), f.Hint
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return s.address.refusal(pg)
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Sprintf("no such host: %s", dns.Name), "check the host in store of .ken/config.yaml, or in KEN_STORE"
	}
	timeout := false
	if n, ok := errors.AsType[net.Error](err); ok {
		timeout = n.Timeout()
	}
	const reach = "try: psql "
	switch {
	case errors.Is(err, context.Canceled):
		return "interrupted", ""
	case timeout, errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err):
		return "the server does not answer", reach + fault.Quote(s.address.String())
	case errors.Is(err, syscall.ECONNREFUSED):
		return "no server listens there", reach + fault.Quote(s.address.String())
	case s.address.socket() && errors.Is(err, fs.ErrNotExist):
		return "no server listens there", "an address without a host means a socket on this machine; name the server: postgres://USER@HOST:5432/DATABASE"
	}
	// Several attempts are several lines, of which the last is as good as any.
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return strings.TrimSpace(lines[len(lines)-1]), ""
}

const (
	lockNotAvailable      = "55P03"
	insufficientPrivilege = "42501"
)

// refusal puts what the server said into words, with what to do about it there.
func (a Address) refusal(pg *pgconn.PgError) (why, hint string) {
	said := pg.Message
	switch pg.Code {
	case "28P01": // invalid_password
		return said, "set the password in PGPASSWORD or ~/.pgpass; create a new role with: createuser -P " + fault.Quote(a.User)
	case "28000": // invalid_authorization_specification
		if strings.HasPrefix(said, "role ") {
			return said, "create it, as an administrator of the server: createuser " + fault.Quote(a.User)
		}
		return said, "allow it on the server, in pg_hba.conf"
	case "3D000": // invalid_catalog_name
		return said, fmt.Sprintf("create it, as an administrator of the server: createdb -O %s %s", fault.Quote(a.User), fault.Quote(a.Database))
	case insufficientPrivilege:
		return said, "see which right the role " + a.User + " lacks: ken doctor"
	case "53300", "57P01", "57P02", "57P03": // too_many_connections, shutting down, starting up
		return said, "try again in a moment"
	case lockNotAvailable:
		return "other writers block the database", "try again in a moment"
	}
	return fmt.Sprintf("%s (SQLSTATE %s)", said, pg.Code), ""
}

// Refused reports whether an error says that the server is there, and does not let this one in or
// not do what it wants.
func Refused(err error) bool {
	if errors.Is(err, errRights) {
		return true
	}
	pg, said := errors.AsType[*pgconn.PgError](err)
	return said && (strings.HasPrefix(pg.Code, "28") || pg.Code == "3D000" || pg.Code == insufficientPrivilege)
}

// Away reports whether an error says that the server could not be reached or did not answer:
// nothing that a person could mend in the repository.
func Away(err error) bool {
	e, ok := errors.AsType[*serverError](err)
	if !ok {
		return false
	}
	pg, refused := errors.AsType[*pgconn.PgError](e.err)
	if refused {
		return strings.HasPrefix(pg.Code, "57P") || pg.Code == "53300" || pg.Code == lockNotAvailable
	}
	_, said := errors.AsType[*fault.Error](e.err)
	return !said
}

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

// An Address names a database and a role. Its String never contains a password.
type Address struct {
	User, Host, Database string
	Port                 uint16
	// TLS is the sslmode of libpq.
	TLS string

	// settings are the other settings of the address, without a password.
	settings url.Values
	// secrets are removed from the messages of the server and of libraries.
	secrets []string
}

// socket reports whether the host is the directory of a Unix socket.
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

// Canonical returns the address in the form that the user allows: with the role, the host, the sslmode and every
// other setting.
func (a Address) Canonical() string {
	u, err := url.Parse(a.String())
	if err != nil {
		return a.String() // cannot happen: String returns a valid URL
	}
	query := u.Query()
	for name, values := range a.settings {
		query[name] = values
	}
	query.Set("sslmode", a.TLS)
	u.RawQuery = query.Encode()
	return u.String()
}

// ParseFromConfig parses an address from a repository's configuration. It accepts fewer settings than Parse, so that a
// repository cannot make ken read or send a file of the user.
func ParseFromConfig(address string) (Address, error) {
	if u, err := url.Parse(address); err == nil && !hasUnescaped(address) {
		for name, values := range u.Query() {
			if !slices.Contains(configSettings, name) {
				return Address{}, &fault.Error{
					Kind: fault.Usage,
					Hint: "remove it from store in .ken/config.yaml, or set the whole address in KEN_STORE",
					Err:  fmt.Errorf("address of the store: .ken/config.yaml may not set %q", name),
				}
			}
			if len(values) > 1 {
				return Address{}, unreadable(fmt.Sprintf("it sets %q more than once", name))
			}
			if name == "sslrootcert" && !isCertificateFile(values[0]) {
				return Address{}, unreadable("its sslrootcert is not a regular file under 1 MiB")
			}
		}
	}
	return Parse(address)
}

// isCertificateFile reports whether a file may contain certificates. It rejects pipes and devices, which may have
// no end.
func isCertificateFile(name string) bool {
	info, err := os.Stat(name)
	return name == "system" || err == nil && info.Mode().IsRegular() && info.Size() < 1<<20
}

// HasPassword reports whether an address contains a password.
func HasPassword(address string) bool {
	u, err := url.Parse(address)
	if err != nil || hasUnescaped(address) {
		// A password with an unescaped slash makes the address invalid.
		_, rest, _ := strings.Cut(address, "://")
		user, _, at := strings.Cut(rest, "@")
		return at && strings.Contains(user, ":") || strings.Contains(rest, "password=")
	}
	_, ok := u.User.Password()
	return ok || u.Query().Has("password")
}

// Parse parses an address.
func Parse(address string) (Address, error) {
	a, _, err := parse(address)
	return a, err
}

// parse parses an address. It does not return the error message of pgx, which may quote a password.
func parse(address string) (Address, *pgxpool.Config, error) {
	if !strings.HasPrefix(address, "postgres://") && !strings.HasPrefix(address, "postgresql://") {
		return Address{}, nil, unreadable("it begins with neither postgres:// nor postgresql://")
	}
	const escape = "characters like / @ : # ? & in a password are written %2F %40 %3A %23 %3F %26"
	if hasUnescaped(address) {
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
	// libpq may contact any of several hosts, but the user would have allowed only the first.
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

// parseConfig parses an address for pgx. Over a network it replaces the sslmodes prefer (the default of libpq) and
// allow by require, because an attacker in the network could make them fall back to plain text.
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

// hasUnescaped reports whether an address may contain a password with an unescaped URL character. ken would print
// the rest of the password as a host, a database or a setting.
func hasUnescaped(address string) bool {
	_, rest, _ := strings.Cut(address, "://")
	if strings.Contains(rest, "#") || strings.Count(rest, "@") > 1 {
		return true
	}
	if end := strings.IndexAny(rest, "/?"); end >= 0 && strings.Contains(rest[end:], "@") {
		return true
	}
	u, err := url.Parse(address)
	if err != nil {
		return false // parse reports it
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

// settings are the settings that libpq knows. An address with a password must have no others: an unknown setting
// may be the rest of a password with an unescaped &, and the server would quote it.
var settings = []string{
	"application_name", "channel_binding", "client_encoding", "connect_timeout", "dbname", "gssencmode", "host", "hostaddr",
	"keepalives", "keepalives_idle", "krbsrvname", "options", "passfile", "password", "port", "requirepeer", "search_path",
	"sslcert", "sslkey", "sslmode", "sslpassword", "sslrootcert", "sslsni", "target_session_attrs", "user",
}

// configSettings are the settings that ParseFromConfig accepts. None of them reads a file of the user, such as a password
// file, a service file or a key.
var configSettings = []string{
	"application_name", "channel_binding", "client_encoding", "connect_timeout", "dbname", "host", "options", "password", "port",
	"search_path", "sslmode", "sslrootcert", "sslsni", "target_session_attrs", "user",
}

// sslmode returns the sslmode of the address or the environment.
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

// otherSettings returns the settings of an address without role, host, database and password.
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

// parseDetail returns the reason of a parse error if it is known to quote nothing, "" otherwise.
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

// A serverError is a failure of the server. Its message contains no secrets.
type serverError struct {
	message string
	err     error
}

func (e *serverError) Error() string { return e.message }

func (e *serverError) Unwrap() error { return e.err }

// Explain returns a server error of another package with the address, the reason and a hint.
func (s *Store) Explain(err error) error { return s.explain("reach", err) }

// explain returns err with the operation, the address, the reason and a hint.
func (s *Store) explain(what string, err error) error {
	if err == nil {
		return nil
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

// reason returns the reason of a failure and a hint.
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
	// The error of several connection attempts has several lines: use the last.
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return strings.TrimSpace(lines[len(lines)-1]), ""
}

const (
	lockNotAvailable      = "55P03"
	insufficientPrivilege = "42501"
)

// refusal returns the reason of a server error and a hint.
func (a Address) refusal(pg *pgconn.PgError) (why, hint string) {
	message := pg.Message
	switch pg.Code {
	case "28P01": // invalid_password
		return message, "set the password in PGPASSWORD or ~/.pgpass; create a new role with: createuser -P " + fault.Quote(a.User)
	case "28000": // invalid_authorization_specification
		if strings.HasPrefix(message, "role ") {
			return message, "create it, as an administrator of the server: createuser " + fault.Quote(a.User)
		}
		return message, "allow it on the server, in pg_hba.conf"
	case "3D000": // invalid_catalog_name
		return message, fmt.Sprintf("create it, as an administrator of the server: createdb -O %s %s", fault.Quote(a.User), fault.Quote(a.Database))
	case insufficientPrivilege:
		return message, "see which right the role " + a.User + " lacks: ken doctor"
	case "53300", "57P01", "57P02", "57P03": // too_many_connections, shutting down, starting up
		return message, "try again in a moment"
	case lockNotAvailable:
		return "other writers block the database", "try again in a moment"
	}
	return fmt.Sprintf("%s (SQLSTATE %s)", message, pg.Code), ""
}

// IsRefused reports whether the server answered and refused access.
func IsRefused(err error) bool {
	if errors.Is(err, errRights) {
		return true
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (strings.HasPrefix(pg.Code, "28") || pg.Code == "3D000" || pg.Code == insufficientPrivilege)
}

// IsUnreachable reports whether the server could not be reached or did not answer. A change of the repository or its
// configuration would not help.
func IsUnreachable(err error) bool {
	e, ok := errors.AsType[*serverError](err)
	if !ok {
		return false
	}
	pg, refused := errors.AsType[*pgconn.PgError](e.err)
	if refused {
		return strings.HasPrefix(pg.Code, "57P") || pg.Code == "53300" || pg.Code == lockNotAvailable
	}
	_, explained := errors.AsType[*fault.Error](e.err)
	return !explained
}

package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"ken/internal/fault"
)

// CheckAccess returns an error if the database at an address cannot be used. It writes nothing; it asks the server for the
// privileges of the role.
func CheckAccess(ctx context.Context, address string) error {
	s, err := Open(address, Options{Repository: "none", Connections: 1})
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, s.connections.config.ConnConfig)
	if err != nil {
		return s.explain("open", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	v, exists, err := version(ctx, conn)
	pg, refused := errors.AsType[*pgconn.PgError](err)
	switch {
	case refused && pg.Code == insufficientPrivilege:
		err = cmp.Or(s.checkRights(ctx, conn), err)
	case err != nil:
	case v == 0:
		err = s.checkCreate(ctx, conn, exists)
	case v != schemaVersion:
		err = s.otherVersion(v)
	default:
		err = s.checkRights(ctx, conn)
	}
	return s.explain("open", err)
}

// errRights means that a privilege is missing.
var errRights = errors.New("permission denied")

// checkCreate returns an error if the role cannot create the tables. It must own the schema, or be able to create one.
func (s *Store) checkCreate(ctx context.Context, q querier, exists bool) error {
	question := `SELECT has_database_privilege(current_database(), 'CREATE')`
	if exists {
		question = `SELECT pg_has_role(nspowner, 'USAGE') FROM pg_catalog.pg_namespace WHERE nspname = 'ken'`
	}
	var may bool
	if err := q.QueryRow(ctx, question).Scan(&may); err != nil || may {
		return err
	}
	return s.cannotCreate(errRights)
}

// cannotCreate returns the error for a role that cannot create the tables.
func (s *Store) cannotCreate(why error) error {
	return &fault.Error{
		Hint: "let the owner of the database create them: KEN_STORE=" + fault.Quote(s.address.withOwner()) + " ken share status",
		Err:  fmt.Errorf("the tables are missing, and the role %s may not create them: %w", s.address.User, why),
	}
}

// A Right is a privilege that a role needs on tables or sequences. On lists their names,
// separated by commas.
type Right struct{ Right, On string }

// clientRights are the privileges that a clone needs, as on the manual's page about teams. Workers need more.
var clientRights = []Right{
	{"SELECT", "schema, repository, record, directory_failure, directory, summary"},
	{"INSERT", "repository, record, directory_failure"},
	{"UPDATE", "directory_failure"},
	{"DELETE", "directory_failure"},
}

// MissingRights returns an error that lists the missing privileges of the role, with a hint that grants them, nil if it has
// all. It ignores tables that do not exist. err is set if the server could not be asked.
func (s *Store) MissingRights(ctx context.Context, rights []Right) (lacks, err error) {
	conn, err := pgx.ConnectConfig(ctx, s.connections.config.ConnConfig)
	if err != nil {
		return nil, s.explain("open", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	missing, err := missingRights(ctx, conn, rights)
	if err != nil {
		return nil, s.explain("open", err)
	}
	return s.explain("open", s.rightsError(missing)), nil
}

// checkRights returns an error if the role lacks one of clientRights.
func (s *Store) checkRights(ctx context.Context, q querier) error {
	lacks, err := missingRights(ctx, q, clientRights)
	if err != nil {
		return err
	}
	return s.rightsError(lacks)
}

// missingRights returns the missing privileges of the role in the syntax of GRANT.
func missingRights(ctx context.Context, q querier, rights []Right) (lacks []string, err error) {
	var uses bool
	err = q.QueryRow(ctx, `SELECT has_schema_privilege(oid, 'USAGE') FROM pg_catalog.pg_namespace WHERE nspname = 'ken'`).Scan(&uses)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil // no tables exist
	}
	if err != nil {
		return nil, err
	}
	if !uses {
		lacks = append(lacks, "USAGE ON SCHEMA ken")
	}
	for _, need := range rights {
		var missing string
		err := q.QueryRow(ctx, `
			SELECT coalesce(string_agg(CASE c.relkind WHEN 'S' THEN 'SEQUENCE ' ELSE '' END || 'ken.' || c.relname, ', ' ORDER BY c.relname), '')
			FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = 'ken' AND c.relname = ANY (string_to_array($1, ', '))
				AND NOT CASE -- of others, it may be asked before their name is looked at
					WHEN c.relkind = 'S' THEN CASE $2 WHEN 'USAGE' THEN has_sequence_privilege(c.oid, $2) END
					ELSE CASE $2 WHEN 'USAGE' THEN NULL ELSE has_table_privilege(c.oid, $2) END
				END`,
			need.On, need.Right).Scan(&missing)
		if err != nil {
			return nil, err
		}
		if missing != "" {
			lacks = append(lacks, need.Right+" ON "+missing)
		}
	}
	return lacks, nil
}

// rightsError returns the error for missing privileges, with a hint that grants them; nil if there are none.
func (s *Store) rightsError(lacks []string) error {
	if len(lacks) == 0 {
		return nil
	}
	role := pgx.Identifier{s.address.User}.Sanitize()
	grants, rights := make([]string, len(lacks)), make([]string, len(lacks))
	for i, l := range lacks {
		grants[i] = fmt.Sprintf("GRANT %s TO %s", l, role)
		rights[i], _, _ = strings.Cut(l, " ON ")
	}
	return &fault.Error{
		Hint: fmt.Sprintf("as the owner of the tables: psql %s -c %s", fault.Quote(s.address.withOwner()), fault.Quote(strings.Join(grants, "; "))),
		Err:  fmt.Errorf("the role %s lacks %s on some of the tables: %w", s.address.User, strings.Join(rights, ", "), errRights),
	}
}

// OwnerAddress returns the address with the placeholder OWNER as the role.
func (s *Store) OwnerAddress() string { return s.address.withOwner() }

// withOwner returns the address with the placeholder OWNER as the role: ken does not know the owner's name.
func (a Address) withOwner() string {
	a.User = "OWNER"
	return a.String()
}

-- A database as schema 1 left it, by: sqlite3 ken.db .dump
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE worktree (
	id              INTEGER PRIMARY KEY,
	name            TEXT NOT NULL UNIQUE, -- '' for the main one
	head            BLOB,
	tree            BLOB,
	index_tree      BLOB, -- what the index would have written
	generation      INTEGER NOT NULL DEFAULT 0, -- of the rows and the baseline
	clean           INTEGER NOT NULL DEFAULT 0,
	policy          TEXT NOT NULL DEFAULT '',
	raw             INTEGER NOT NULL DEFAULT 0,
	upstream_ref    TEXT NOT NULL DEFAULT '',
	upstream_commit BLOB,
	upstream_known  INTEGER NOT NULL DEFAULT 0,
	upstream_ahead  INTEGER NOT NULL DEFAULT 0,
	upstream_behind INTEGER NOT NULL DEFAULT 0,
	verified_at     TEXT, -- NULL: there are rows, but no baseline
	files           INTEGER NOT NULL DEFAULT 0,
	fresh           INTEGER NOT NULL DEFAULT 0,
	stale           INTEGER NOT NULL DEFAULT 0,
	none            INTEGER NOT NULL DEFAULT 0,
	excluded        INTEGER NOT NULL DEFAULT 0
);
INSERT INTO worktree VALUES(1,'',X'1a954628a960aaef81d7b2d4521929579f3541e6',NULL,NULL,1,1,'',0,'',NULL,0,0,0,'2026-01-02T03:04:05Z',3,1,1,1,0);
INSERT INTO worktree VALUES(2,'two',NULL,NULL,NULL,1,0,'',0,'',NULL,0,0,0,NULL,1,1,0,0,0);
CREATE TABLE file (
	worktree    INTEGER NOT NULL REFERENCES worktree (id),
	path        BLOB NOT NULL,
	kind        TEXT NOT NULL,
	mode        INTEGER NOT NULL,
	content_id  BLOB,
	content_md5 BLOB,
	size        INTEGER NOT NULL,
	mtime       INTEGER NOT NULL,
	ctime       INTEGER NOT NULL,
	inode       INTEGER NOT NULL,
	marks       INTEGER NOT NULL, -- bits: 1 raw, 2 astray, 4 converted, 8 convertible
	excluded    TEXT NOT NULL,
	about       BLOB, -- 16 bytes: the md5, else the content id, that the text was written from
	state       TEXT NOT NULL GENERATED ALWAYS AS (
		CASE
			WHEN excluded <> '' THEN 'excluded'
			WHEN about IS NULL THEN 'none'
			WHEN about = CASE length(about) WHEN 16 THEN content_md5 ELSE content_id END THEN 'fresh'
			ELSE 'stale'
		END) VIRTUAL,
	PRIMARY KEY (worktree, path)
) WITHOUT ROWID;
INSERT INTO file VALUES(1,X'612e676f','source',33188,X'11f6ad8ec52a2984abaafd7c3b516503785c2072',X'9dd4e461268c8034f5c8564e155c67a6',1,1700000000123456789,-5,-9223372036854775801,0,'',X'11f6ad8ec52a2984abaafd7c3b516503785c2072');
INSERT INTO file VALUES(1,X'62ff2e676f','source',33188,X'95cb0bfd2977c761298d9624e4b4d4c72a39974a',X'415290769594460e2e485922904f345d',1,1700000000123456789,-5,-9223372036854775801,0,'',NULL);
INSERT INTO file VALUES(1,X'7374616c652e676f','source',33188,X'a22fca6c3065d5684c7f16ed40b8c3b877a68a24',X'683dc5278b1fbbd98a996cecc3ffd06a',6,1700000000123456789,-5,-9223372036854775801,0,'',X'51de2b835bd35a67eb32dbcd3d77d4b96e5aa39d');
INSERT INTO file VALUES(2,X'612e676f','source',33188,X'11f6ad8ec52a2984abaafd7c3b516503785c2072',X'9dd4e461268c8034f5c8564e155c67a6',1,1700000000123456789,-5,-9223372036854775801,0,'',X'11f6ad8ec52a2984abaafd7c3b516503785c2072');
CREATE TABLE record (
	seq         INTEGER PRIMARY KEY,
	id          BLOB NOT NULL UNIQUE,
	content_id  BLOB,
	content_md5 BLOB,
	text        TEXT NOT NULL,
	text_id     BLOB NOT NULL,
	author      TEXT NOT NULL,
	recipe      TEXT NOT NULL,
	at          INTEGER NOT NULL, -- microseconds since 1970
	assumed     INTEGER NOT NULL,
	confirmer   TEXT NOT NULL,
	path        BLOB NOT NULL
);
INSERT INTO record VALUES(1,X'42c2993c65bef68b32d4d948c314217e3853c96653e33c3fbad723963c7f2508',X'11f6ad8ec52a2984abaafd7c3b516503785c2072',X'9dd4e461268c8034f5c8564e155c67a6','about x',X'cdd30ebccfb5bf343b1e92dd70415b04b7582b21e09e694bdaaaf2a219f9ee1a','ann','hand',1767323045000000,0,'',X'612e676f');
INSERT INTO record VALUES(2,X'85500f0f669cb9f9346316a0eff3e1121de4d96c62786aff248c3307b64d5b10',X'51de2b835bd35a67eb32dbcd3d77d4b96e5aa39d',X'2f44417567bc123bd7c60de8c2a2b444','about before',X'3149344c49abb410b24a332cd4afa6151fbec9da8af6c59dca3b7de326c4ac88','ann','hand',1767323046000000,0,'',X'612e676f');
CREATE TABLE plugin_config (
	key   TEXT PRIMARY KEY,
	value TEXT
) WITHOUT ROWID;
INSERT INTO plugin_config VALUES('last_verified_sha','1a954628a960aaef81d7b2d4521929579f3541e6');
CREATE INDEX file_exception ON file (worktree) WHERE marks & 3 OR state = 'stale';
CREATE INDEX record_content_id ON record (content_id, at) WHERE content_id IS NOT NULL;
CREATE INDEX record_content_md5 ON record (content_md5, at) WHERE content_id IS NULL AND content_md5 IS NOT NULL;
CREATE INDEX record_path ON record (path, at);
CREATE VIEW file_registry AS
SELECT
	CAST(f.path AS TEXT)                                     AS path,
	f.kind                                                   AS type,
	nullif(lower(hex(f.content_md5)), '')                    AS content_md5,
	r.text                                                   AS summary,
	strftime('%Y-%m-%dT%H:%M:%SZ', r.at / 1000000, 'unixepoch') AS summary_updated_at,
	CASE
		WHEN f.state = 'stale' AND f.content_id IS NULL AND f.content_md5 IS NULL THEN 'unknown'
		ELSE f.state
	END                                                      AS summary_state,
	nullif(lower(hex(f.content_id)), '')                     AS content_id,
	w.name                                                   AS worktree,
	nullif(f.excluded, '')                                   AS excluded,
	nullif(lower(hex(f.about)), '')                          AS summary_of,
	r.author                                                 AS summary_author,
	nullif(lower(hex(r.id)), '')                             AS summary_record
FROM file f
JOIN worktree w ON w.id = f.worktree
LEFT JOIN record r ON f.excluded = '' AND r.seq =
	CASE length(f.about)
		WHEN 16 THEN (
			SELECT seq FROM record
			WHERE content_id IS NULL AND content_md5 IS NOT NULL AND content_md5 = f.about
			ORDER BY at DESC, seq DESC LIMIT 1)
		ELSE (
			SELECT seq FROM record
			WHERE content_id IS NOT NULL AND content_id = f.about
			ORDER BY at DESC, seq DESC LIMIT 1)
	END;
CREATE VIEW baseline AS
SELECT
	name                          AS worktree,
	nullif(lower(hex(head)), '')  AS last_verified_sha,
	nullif(lower(hex(tree)), '')  AS tree,
	clean, verified_at, files, fresh, stale, none, excluded
FROM worktree
WHERE verified_at IS NOT NULL;
COMMIT;
PRAGMA application_id = 1801809457;
PRAGMA user_version = 1;

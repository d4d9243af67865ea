-- Divides ken's large tables into hash partitions by repository. All of it happens or nothing;
-- whoever writes meanwhile waits. Grants on the tables and views have to be given again.
DO $$
DECLARE
	big   text[] := ARRAY['file', 'record', 'directory_record'];
	parts int := 16;
	t     text;
	v     record;
	made  text[] := '{}';
BEGIN
	PERFORM pg_advisory_xact_lock(30229347230245736); -- nobody migrates meanwhile
	FOREACH t IN ARRAY big LOOP
		EXECUTE format('LOCK TABLE ken.%I IN ACCESS EXCLUSIVE MODE', t);
	END LOOP;
	-- Views belong to the tables that they were made of, not to names.
	FOR v IN SELECT viewname, definition FROM pg_views WHERE schemaname = 'ken' LOOP
		made := made || format('CREATE VIEW ken.%I AS %s', v.viewname, v.definition);
		EXECUTE format('DROP VIEW ken.%I', v.viewname);
	END LOOP;
	FOREACH t IN ARRAY big LOOP
		EXECUTE format('ALTER TABLE ken.%I RENAME TO %I', t, t || '_whole');
		EXECUTE format('CREATE TABLE ken.%I (LIKE ken.%I INCLUDING ALL) PARTITION BY HASH (repository)', t, t || '_whole');
		FOR i IN 0 .. parts - 1 LOOP
			EXECUTE format('CREATE TABLE ken.%I PARTITION OF ken.%I FOR VALUES WITH (MODULUS %s, REMAINDER %s)', t || '_' || i, t, parts, i);
		END LOOP;
		EXECUTE format('INSERT INTO ken.%I SELECT * FROM ken.%I', t, t || '_whole');
		EXECUTE format('DROP TABLE ken.%I', t || '_whole');
	END LOOP;
	FOREACH t IN ARRAY made LOOP
		EXECUTE t;
	END LOOP;
END $$;
